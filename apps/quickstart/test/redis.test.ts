import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { startFaultProxy, startRedis } from "@agentfw/test-servers";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { type Outcome, runApp, startApp, temporaryFolder } from "./support/app.ts";
import { linesOf, regular } from "./support/recordings.ts";

const pids = (output: string) => [...output.matchAll(/^ {2}process (\d+), session/gm)].map(([, pid]) => pid);
const redis = (...args: string[]) => ["--backend", "redis", ...args];

/** A server that is there before the app and after it. */
async function server(options: { password?: string } = {}): Promise<{ url: string; client: Redis }> {
  const { url, stop } = await startRedis(options);
  const client = new Redis(url);
  onTestFinished(async () => {
    client.disconnect();
    await stop();
  });
  return { url, client };
}

/** The address of the server that the app says it started. */
function startedUrl({ errorOutput }: { readonly errorOutput: string }): URL {
  return new URL(/Started a Redis server on (\S+)\. /.exec(errorOutput)?.[1] ?? "");
}

function expectStopped({ port }: URL): Promise<void> {
  const isListening = async () => {
    const client = new Redis(Number(port), { lazyConnect: true, retryStrategy: () => null });
    client.on("error", () => {});
    try {
      await client.connect();
      return true;
    } catch {
      return false;
    } finally {
      client.disconnect();
    }
  };
  return expect.poll(isListening, { timeout: 10_000 }).toBe(false);
}

test("without a URL it starts a server that both processes use, and stops it", async () => {
  const outcome = await runApp(redis());
  expect(outcome.code).toBe(0);
  const { output } = outcome;
  const url = startedUrl(outcome);
  expect(outcome.errorOutput.match(/Started a Redis server/g)).toHaveLength(1);
  expect(new Set(pids(output)).size).toBe(2);
  expect(output.split("Turn 2.")[1]).toContain('You told me: "Remember that I like Italian food."');
  expect(output).toContain(`The conversation, 4 messages:  ${url.href}, a list with the key agentfw-quickstart:1:h:`);
  expect(output).toContain(`redis-cli -u ${url.href} --scan --pattern 'agentfw-quickstart:*'`);
  expect(output).toContain("it ends now, with this command");
  expect(output).toContain("--chat --backend=redis\n");
  await expectStopped(url);
});

test("with a URL what it stored stays, and later commands go on with it", async () => {
  const { url, client } = await server();
  await client.set("somebody else's", "value");
  const first = await runApp(redis("--url", url, "--owner", "a*[b]?\\", "--session", 's "1"'));
  expect(first).toMatchObject({ code: 0, errorOutput: "" });
  const again = await runApp(redis("--url", url, "--owner", "a*[b]?\\", "--session", 's "1"'));
  expect(again.output).toContain("holds 4 messages from earlier");
  expect(again.output).toContain(`--chat --backend=redis --url=${url} '--session=s "1"' '--owner=a*[b]?\\'`);
  await runApp(redis("--url", url, "--say", "hello", "--owner", "ab?", "--session", 's "1"'));

  const [, pattern = ""] = /lrange .*--pattern '(\S.*)'\)" 0 -1$/m.exec(again.output) ?? [];
  const [, keys] = await client.scan(0, "MATCH", pattern, "COUNT", 10_000);
  expect(keys).toHaveLength(1);
  expect(await client.llen(keys[0] ?? "")).toBe(8);
  expect((await client.lindex(keys[0] ?? "", 0))?.toString()).toContain("Remember that I like Italian food.");
  const others = (await client.keys("*")).filter((key) => !key.startsWith("agentfw-quickstart:"));
  expect(others).toEqual(["somebody else's"]);
});

test("a chat goes on with the conversation, clears it and shows where it is", async () => {
  const { url, client } = await server({ password: "pass word" });
  const shown = url.replace(/:[^:@]*@/, ":***@");
  await runApp(redis("--url", url, "--chat"), { input: "My dog is called Rex.\n" });
  const next = await runApp(redis("--url", url, "--chat"), { input: "What is my dog called?\n/clear\n/history\n" });
  expect(next).toMatchObject({ code: 0, errorOutput: "" });
  expect(next.output).toContain(`History   ${shown}`);
  expect(next.output).toContain('You told me: "My dog is called Rex."');
  expect(next.output).toContain("Nothing is stored.");
  expect(next.output).toContain(`--chat --backend=redis '--url=${shown}'`);
  expect(next.output).not.toContain("pass%20word");
  expect(await client.keys("agentfw-quickstart:?:h:*")).toEqual([]);
});

test("a chat on a server of its own says that it is forgotten, and takes the server along", async () => {
  const app = startApp(redis("--chat"));
  app.write("I like jazz\n");
  await app.says("Noted.");
  app.process.stdin?.end();
  const outcome = await app.ended;
  expect(outcome).toMatchObject({ code: 0 });
  expect(outcome.output).toContain("It is forgotten when you leave; --url redis://127.0.0.1:6379");
  expect(outcome.output).toContain("Forgotten.");
  await expectStopped(startedUrl(outcome));
});

test("one turn on a server of its own says that it is forgotten", async () => {
  const outcome = await runApp(redis("--say", "hello"));
  expect(outcome.code).toBe(0);
  expect(outcome.errorOutput).toContain("which forgets it now; --url redis://127.0.0.1:6379");
});

test("a program that is killed leaves no server behind", async () => {
  const app = startApp(redis("--chat"));
  await app.says("/help shows the commands.");
  app.process.kill("SIGKILL");
  await expectStopped(startedUrl(await app.ended));
});

async function recordings(): Promise<{ file: string; total: number }> {
  const names = ["plain", "several calls at once", "many rounds", "no messages"];
  const file = join(await temporaryFolder(), "recordings.jsonl");
  const some = Object.fromEntries(names.map((name) => [name, regular[name] ?? []]));
  await writeFile(file, `${linesOf(some).join("\n")}\n`);
  return { file, total: names.length };
}

test("recordings load equal in new processes, and can be compared again where the server stays", async () => {
  const { file, total } = await recordings();
  const own = await runApp(redis("--transcripts", file));
  expect(own.code).toBe(0);
  expect(own.output).toContain(`Conversations  ${total}, of which ${total} load equal in a new process`);
  expect(own.output).not.toContain("Compare again");

  const { url, client } = await server();
  const replayed = await runApp(redis("--transcripts", file, "--url", url, "--replay", "r"));
  expect(replayed.code).toBe(0);
  expect(replayed.output).toContain(`--replay r --check --backend=redis --url=${url}`);
  const check = redis("--transcripts", file, "--url", url, "--replay", "r", "--check");
  expect((await runApp(check)).code).toBe(0);
  const [, [key = ""]] = await client.scan(0, "MATCH", "agentfw-quickstart:1:h:*transcript-r-1*", "COUNT", 10_000);
  await client.rpop(key);
  const changed = await runApp(check);
  expect(changed.code).toBe(1);
  expect(changed.output).toContain("Differences    1 in 1 conversation, 0 failed");
});

/** Every way in which the program uses a server. */
async function everyMode(url: string): Promise<Outcome[]> {
  const { file } = await recordings();
  const modes = [[], ["--say", "hello"], ["--chat"], ["--transcripts", file]];
  return Promise.all(modes.map((args) => runApp(redis("--url", url, ...args))));
}

async function expectFailure(url: string, error: RegExp): Promise<void> {
  for (const { code, output, errorOutput } of await everyMode(url)) {
    expect(errorOutput).toMatch(error);
    expect(output + errorOutput).not.toContain("secret");
    expect(errorOutput).not.toContain("    at ");
    expect(code).toBe(1);
  }
}

test.each([
  ["http://localhost", /^quickstart: configuration: url: must be redis:\/\/host/],
  ["localhost:6379", /^quickstart: configuration: url: must be/],
  ["redis://me:secret@localhost/zero", /^quickstart: configuration: url: must .* a database number/],
])("%s is no address of a server", async (url, error) => {
  await expectFailure(url, error);
});

test("a server that is not there is a clear error", async () => {
  const proxy = await startFaultProxy({ port: 1 });
  await proxy.refuse();
  await expectFailure(`redis://127.0.0.1:${proxy.port}`, /^quickstart: unavailable: .*ECONNREFUSED/);
});

test("a server that never answers is an error when the time for it is over", async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void silent.close());
  const address = silent.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await expectFailure(`redis://127.0.0.1:${port}`, /^quickstart: (timeout|unavailable): .*5000 ms/);
});

test("a wrong password is an error that does not repeat it", async () => {
  const { url } = await server({ password: "right" });
  await expectFailure(url.replace("right", "secret"), /^quickstart: unauthorized: /);
});

test("a chat that cannot begin ends, though its input is open", async () => {
  const app = startApp(redis("--chat", "--url", "redis://127.0.0.1:1"));
  expect(await app.ended).toMatchObject({ code: 1 });
});
