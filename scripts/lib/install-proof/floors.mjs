import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { npm } from "../npm.mjs";
import { failure } from "../run.mjs";

/**
 * Brings the older versions of our packages that some peer ranges begin with into the local registry. They come from
 * the registry that npm is set to use, where the release that they belong to put them.
 */
export async function publishOlder(needs, registry, folder) {
  const wanted = new Set(needs.flatMap(({ floors }) => floors.map(({ name, version }) => `${name}@${version}`)));
  for (const spec of [...wanted].sort()) {
    if (await registry.has(spec)) continue;
    const place = join(folder, spec.replaceAll("/", "-"));
    mkdirSync(place, { recursive: true });
    const { code, output } = await npm(["pack", spec, "--pack-destination", place], { cwd: folder });
    const tarball = readdirSync(place).find((file) => file.endsWith(".tgz"));
    if (code !== 0 || tarball === undefined)
      throw failure(`${spec} is the oldest that some package claims to work with, and npm cannot fetch it:\n${output}`);
    await registry.publish(join(place, tarball), "older");
  }
}
