import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { versionCopy, withReleaseCopy } from "../release/copy.mjs";
import { packCopy } from "../release/packed.mjs";
import { scope } from "../rules/kinds.mjs";
import { failure } from "../run.mjs";
import { root } from "../workspace.mjs";
import { startRegistry } from "./server.mjs";

/**
 * Serves what the next release of a built checkout would publish, says how it is used, and ends when `stop` resolves. The
 * registry's folder is gone afterwards, however it ended. `prepared` is what is done with a copy before it is packed.
 */
export async function serveRelease({ base = root, port, stop, report, prepared = versionCopy }) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "agentfw-registry-")));
  let registry;
  try {
    registry = await startRegistry(folder, { port });
    const count = await withReleaseCopy((copy) => publishAll(copy, registry, prepared), base);
    report(usage(registry.url, count));
    const isAsked = await Promise.race([stop.then(() => true), registry.ended.then(() => false)]);
    if (!isAsked) throw failure("The local registry ended by itself.");
    report("Stopped.");
  } finally {
    await registry?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function publishAll(copy, registry, prepared) {
  await prepared(copy);
  const packed = await packCopy(copy);
  for (const { tarball } of packed) await registry.publish(tarball);
  return packed.length;
}

function usage(url, count) {
  const line = `${scope.slice(0, -1)}:registry=${url}`;
  return `
${count} packages are served at ${url} until Ctrl-C. The line for .npmrc, in an empty folder:

  ${line}

Then, in that folder, the project of a provider (history, state, file, context, chat-client; any name):

  npm create --yes ${scope}provider@latest -- history sqlite
  cp .npmrc agentfw-history-sqlite/
`;
}
