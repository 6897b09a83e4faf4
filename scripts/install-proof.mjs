// Every package that can be published is packed, published to a registry of this machine and installed from there, alone,
// into an empty folder: no stranger comes along, and the README's examples compile and run. What passed is not tried again
// until something changes; `--again` tries it anyway, `--every-manager` tries every package with yarn and pnpm too.
import "./lib/require-node.mjs";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cacheFolder, rememberProof, wasProven } from "./lib/install-proof/memory.mjs";
import { proveInstalls, withReadmes } from "./lib/install-proof/prove.mjs";
import { main } from "./lib/main.mjs";
import { startRegistry } from "./lib/registry/server.mjs";
import { versionCopy, withReleaseCopy } from "./lib/release/copy.mjs";
import { packCopy } from "./lib/release/packed.mjs";
import { failure, seconds } from "./lib/run.mjs";

const everyManager = process.argv.includes("--every-manager");
const again = process.argv.includes("--again");
const report = (line) => process.stdout.write(`${line}\n`);

async function prove(packed) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "agentfw-installs-")));
  const registry = await startRegistry(join(folder, "registry"));
  try {
    return await proveInstalls({
      packed,
      registry,
      folder,
      caches: cacheFolder(),
      report,
      others: everyManager ? "every" : "some",
    });
  } finally {
    await registry.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main(() =>
  withReleaseCopy(async (copy) => {
    const start = Date.now();
    await versionCopy(copy);
    const packed = withReadmes(await packCopy(copy), copy);
    if (!again && !everyManager && wasProven(packed, copy))
      return report("nothing that is published changed since it passed");
    report(`prepared (${seconds(start)})`);
    const problems = await prove(packed);
    if (problems.length > 0) throw failure(problems.join("\n"));
    rememberProof(packed, copy);
    report(`${packed.length} packages install alone (${seconds(start)})`);
  }),
);
