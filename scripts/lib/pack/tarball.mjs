import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { findPnpm } from "../pnpm.mjs";
import { failure, run } from "../run.mjs";

/**
 * Packs a package as a release would and unpacks it again: `{ tarball, unpacked }`.
 * Both stay in the package's ignored .pack folder, where the checks of dependent packages find them.
 */
export async function pack(path) {
  const folder = join(path, ".pack");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const pnpm = await findPnpm();
  await must(process.execPath, [pnpm.script, "pack", "--pack-destination", folder], path);
  const name = readdirSync(folder).find((file) => file.endsWith(".tgz"));
  await must("tar", ["-xzf", name], folder);
  return { tarball: join(folder, name), unpacked: join(folder, "package") };
}

/** Every file of the unpacked tarball, as paths inside it. */
export function contents(unpacked) {
  return readdirSync(unpacked, { recursive: true })
    .filter((file) => statSync(join(unpacked, file)).isFile())
    .map((file) => file.replaceAll("\\", "/"));
}

async function must(command, args, cwd) {
  const { code, output } = await run(command, args, { cwd });
  if (code !== 0) throw failure(`${command} ${args.join(" ")} failed:\n${output}`);
}
