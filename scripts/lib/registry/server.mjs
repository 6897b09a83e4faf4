import { fork } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { npm } from "../npm.mjs";
import { scope } from "../rules/kinds.mjs";
import { failure } from "../run.mjs";
import { registryTools } from "./tools.mjs";

const child = fileURLToPath(new URL("serve.mjs", import.meta.url));

/**
 * Starts a registry for our packages in an empty folder: `{ url, publish(tarball, tag), has(spec), stop(), ended }`. It listens on the
 * loopback interface, on a free port or the given one, lets everybody publish, and asks no other registry, so a name that is not
 * here is not found anywhere. `ended` resolves when it is over.
 */
export async function startRegistry(folder, { port: wanted = 0 } = {}) {
  const tools = await registryTools();
  mkdirSync(folder, { recursive: true });
  const configFile = join(folder, "config.yaml");
  writeFileSync(configFile, JSON.stringify(configuration(folder)));
  const server = fork(child, [tools, configFile, String(wanted)], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const ended = new Promise((resolve) => server.once("exit", resolve));
  const port = await ready(server, wanted);
  const url = `http://127.0.0.1:${port}/`;
  // npm wants somebody to be logged in before it publishes; the registry asks nobody.
  const userconfig = join(folder, "publish.npmrc");
  writeFileSync(userconfig, `registry=${url}\n//127.0.0.1:${port}/:_authToken=nobody\n`);
  return {
    url,
    publish: (tarball, tag = "latest") => publish(tarball, tag, { url, userconfig, cwd: folder }),
    has: (spec) => has(url, spec),
    stop: () => stop(server),
    ended,
  };
}

/** YAML reads JSON. */
function configuration(folder) {
  return {
    storage: join(folder, "storage"),
    uplinks: {},
    packages: { "**": { access: "$all", publish: "$anonymous" } },
    web: { enable: false },
    max_body_size: "100mb",
    log: { type: "stdout", format: "pretty", level: "error" },
  };
}

function ready(server, wanted) {
  return new Promise((resolve, reject) => {
    const output = [];
    server.stdout.on("data", (chunk) => output.push(chunk));
    server.stderr.on("data", (chunk) => output.push(chunk));
    server.on("error", reject);
    server.once("message", ({ port, code }) => {
      if (code === undefined) resolve(port);
      else reject(failure(`The local registry cannot listen on port ${wanted} (${code}). --port takes another one.`));
    });
    server.once("exit", () => reject(failure(`The local registry did not start:\n${Buffer.concat(output)}`)));
  });
}

async function publish(tarball, tag, { url, userconfig, cwd }) {
  // Said three times, because a setting for a scope or in the environment would lead to a registry of the world.
  const where = ["--registry", url, `--${scope.slice(0, -1)}:registry=${url}`, "--userconfig", userconfig];
  const { code, output } = await npm(["publish", tarball, ...where, "--ignore-scripts", "--tag", tag], { cwd });
  if (code !== 0) throw failure(`${tarball} could not be published to the local registry:\n${output}`);
}

async function has(url, spec) {
  const at = spec.lastIndexOf("@");
  const response = await fetch(`${url}${spec.slice(0, at).replace("/", "%2f")}`);
  if (response.status === 404) return false;
  return Object.hasOwn((await response.json()).versions, spec.slice(at + 1));
}

function stop(server) {
  if (server.exitCode !== null || server.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    server.once("exit", () => resolve());
    server.disconnect();
  });
}
