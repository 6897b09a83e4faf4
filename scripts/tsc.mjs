// Runs the compiler with the arguments it is given: `node ../../scripts/tsc.mjs -p .`
import "./lib/require-node.mjs";
import { spawnSync } from "node:child_process";
import { compilerPath } from "./lib/compiler.mjs";

const { status } = spawnSync(process.execPath, [compilerPath(), ...process.argv.slice(2)], { stdio: "inherit" });
process.exitCode = status ?? 1;
