import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../workspace.mjs";

/** How long a run may take before it counts as one that never ends. */
export const longestRunMs = 120_000;

/**
 * The servers that examples may ask for: how the code of an example says so, and what is started for it. `given` is what the
 * person set already, where the packages' own tests would use that too.
 */
const servers = [
  {
    isNeededBy: (code) => code.includes("REDIS_URL"),
    given: "REDIS_URL",
    start: async ({ startRedis }) => withStop(await startRedis(), ({ url }) => ({ REDIS_URL: url })),
  },
  {
    isNeededBy: (code) => code.includes("DATABASE_URL"),
    given: "DATABASE_URL",
    start: async ({ startPostgres }) => withStop(await startPostgres(), ({ url }) => ({ DATABASE_URL: url })),
  },
  {
    isNeededBy: (code) => code.includes("AZURE_STORAGE_CONNECTION_STRING"),
    given: "AZURE_STORAGE_CONNECTION_STRING",
    start: async ({ startAzurite }) =>
      withStop(await startAzurite(), ({ connectionString }) => ({ AZURE_STORAGE_CONNECTION_STRING: connectionString })),
  },
  {
    // Never the person's own key: an example must cost nobody anything.
    isNeededBy: (code) => /OPENAI_|openAIOptionsFromEnvironment/.test(code),
    start: async ({ startStrictServer }) => {
      const server = await startStrictServer({ respond });
      return {
        variables: { OPENAI_API_KEY: server.apiKey, OPENAI_BASE_URL: server.baseURL, OPENAI_MODEL: "gpt-4o-mini" },
        stop: () => server.close(),
      };
    },
  },
];

/**
 * Starts the servers that the given examples need, each once and on a free port, calls `work(env)` with the environment
 * in which the examples find them, and stops them when that is over.
 */
export async function withServers(codes, work) {
  const wanted = servers.filter(({ isNeededBy, given }) => codes.some(isNeededBy) && !process.env[given ?? ""]);
  if (wanted.length === 0) return work(process.env);
  const module = await testServers();
  const started = await Promise.allSettled(wanted.map(({ start }) => start(module)));
  const running = started.filter(({ status }) => status === "fulfilled").map(({ value }) => value);
  try {
    const failed = started.find(({ status }) => status === "rejected");
    if (failed !== undefined) throw failed.reason;
    return await work(Object.assign({ ...process.env }, ...running.map(({ variables }) => variables)));
  } finally {
    await Promise.all(running.map(({ stop }) => stop()));
  }
}

/** The servers of the packages' own tests. They are TypeScript, which not every Node that we support can load. */
async function testServers() {
  const { build } = await import("esbuild");
  const folder = join(root, ".cache", "servers");
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, `${process.pid}.mjs`);
  const contents = [
    'export { startAzurite } from "./azurite.ts";',
    'export { startPostgres } from "./postgres.ts";',
    'export { startRedis } from "./redis.ts";',
    'export { startStrictServer } from "./openai/index.ts";',
  ].join("\n");
  const resolveDir = join(root, "tooling", "test-servers", "src");
  await build({ stdin: { contents, resolveDir }, outfile, bundle: true, format: "esm", platform: "node" });
  return import(pathToFileURL(outfile).href);
}

function withStop(server, variablesOf) {
  return { variables: variablesOf(server), stop: () => server.stop() };
}

/** A model that calls the first tool that it is offered, once, and then has something to say. */
function respond({ body }) {
  const [tool] = body.tools ?? [];
  if (tool === undefined || body.messages.at(-1).role !== "user") return { answer: { text: "Certainly." } };
  const properties = Object.entries(tool.function.parameters?.properties ?? {});
  const values = properties.map(([name, { type }]) => [name, type === "string" ? "Rome" : 1]);
  const call = { id: "call-1", name: tool.function.name, arguments: JSON.stringify(Object.fromEntries(values)) };
  return { answer: { toolCalls: [call] } };
}
