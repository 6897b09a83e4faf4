// A registry of this machine that stays up, with every package of this checkout as the next release would have it: for whoever
// writes a provider before the packages are published, or against a core that is not released yet.
import "./lib/require-node.mjs";
import { parseArgs } from "node:util";
import { prepare, step } from "./lib/gate.mjs";
import { main } from "./lib/main.mjs";
import { serveRelease } from "./lib/registry/serve-release.mjs";
import { untilSignal } from "./lib/registry/signals.mjs";
import { failure } from "./lib/run.mjs";

const defaultPort = 4873;
const help = `npm run registry [-- --port PORT]

Builds and packs every package, publishes them to a registry on this machine, and keeps it up until Ctrl-C. Nothing is
published anywhere else, and nothing stays behind. It knows names in @agentfw only; everything else comes from where npm
is set to get it.

  --port PORT  where it listens on the loopback interface; 0 takes a free one (default ${defaultPort})
  --help       show this text

npm keeps the scaffolder that it fetched: after a change of the template, delete the folder _npx in the one that
"npm config get cache" names. In a project, delete package-lock.json and node_modules/@agentfw, and install again.
`;

function readArguments() {
  try {
    const { values } = parseArgs({
      options: { port: { type: "string", default: String(defaultPort) }, help: { type: "boolean", short: "h" } },
    });
    if (!/^\d{1,5}$/.test(values.port) || Number(values.port) > 65_535)
      throw new Error("--port must be a number from 0 to 65535");
    return { port: Number(values.port), isHelp: values.help === true };
  } catch (error) {
    throw failure(`${error.message}\nTry --help.`);
  }
}

await main(async () => {
  const { port, isHelp } = readArguments();
  if (isHelp) return process.stdout.write(help);
  const stop = untilSignal();
  const tools = await prepare();
  if (!(await step("build", () => tools.turbo("build")))) throw failure("What does not build cannot be served.");
  await serveRelease({ port, stop, report: (text) => process.stdout.write(`${text}\n`) });
});
