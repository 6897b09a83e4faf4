import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FoundryHistoryStore, FoundryStateStore } from "@agentfw/foundry-state-store";
import { startEmulator } from "@agentfw/foundry-state-store/emulator";
import { expect, onTestFinished, test } from "vitest";
import { runApp, temporaryFolder } from "./support/app.ts";
import { linesOf, regular } from "./support/recordings.ts";

const foundry = (...args: string[]) => ["--backend", "foundry", ...args];

const pids = (output: string) => [...output.matchAll(/^ {2}process (\d+), session/gm)].map(([, pid]) => pid);

test("without an endpoint both processes use an emulator that keeps everything in the folder", async () => {
  const data = await temporaryFolder();
  const first = await runApp(foundry("--data", data));
  expect(first.code).toBe(0);
  expect(new Set(pids(first.output)).size).toBe(2);
  expect(first.output.split("Turn 2.")[1]).toContain('You told me: "Remember that I like Italian food."');
  expect(first.errorOutput.match(/Started an emulator of the Foundry state store on http:\/\/127/g)).toHaveLength(1);
  expect(first.output).toContain("in the state store agentfw-quickstart");
  const [file = ""] = (await readdir(join(data, "foundry"))).filter((name) => name.endsWith(".jsonl"));
  expect(await readFile(join(data, "foundry", file), "utf8")).toContain("Remember that I like Italian food.");

  const again = await runApp(foundry("--data", data));
  expect(again.output).toContain("holds 4 messages from earlier");
  const chat = await runApp(foundry("--data", data, "--chat"), { input: "/history\n/clear\n/history\n" });
  expect(chat.output).toContain("Remember that I like Italian food.");
  expect(chat.output).toContain("Nothing is stored.");
});

test("with an endpoint, by option or by environment, what it stored stays there", async () => {
  const emulator = await startEmulator();
  onTestFinished(() => emulator.close());
  const { endpoint } = emulator;
  expect(await runApp(foundry("--url", endpoint, "--say", "I like jazz"))).toMatchObject({ code: 0, errorOutput: "" });
  const second = await runApp(foundry("--say", "I like tea"), { environment: { FOUNDRY_PROJECT_ENDPOINT: endpoint } });
  expect(second).toMatchObject({ code: 0, errorOutput: "" });
  const store = await FoundryStateStore.getOrCreate("agentfw-quickstart", { endpoint });
  const key = { owner: "local-user", source: "history", session: "demo" };
  expect((await new FoundryHistoryStore(store).read(key)).records).toHaveLength(4);
});

test("what it shows to look and to delete works, also where the endpoint ends in /storage", async () => {
  const emulator = await startEmulator();
  onTestFinished(() => emulator.close());
  const { output } = await runApp(foundry("--url", `${emulator.endpoint}/storage/`));
  const urls = [...output.matchAll(/curl .*'(http[^']+)'/g)].map(([, url = ""]) => url);
  expect(urls).toHaveLength(2);
  for (const url of urls) {
    expect((await fetch(url, { headers: { authorization: "Bearer local" } })).status).toBe(200);
  }
});

test("recordings load equal in new processes, and can be compared again", async () => {
  const data = await temporaryFolder();
  const names = ["plain", "several calls at once", "many rounds", "no messages"];
  const file = join(data, "recordings.jsonl");
  await writeFile(
    file,
    `${linesOf(Object.fromEntries(names.map((name) => [name, regular[name] ?? []]))).join("\n")}\n`,
  );
  const args = foundry("--transcripts", file, "--data", data, "--replay", "r");
  const replayed = await runApp(args);
  expect(replayed.output).toContain(
    `Conversations  ${names.length}, of which ${names.length} load equal in a new process`,
  );
  expect(await runApp([...args, "--check"])).toMatchObject({ code: 0 });
});

test.each([
  ["http://example.com/p", /^quickstart: configuration: endpoint: must be an https:/],
  ["https://example.com/p", /^quickstart: FOUNDRY_ACCESS_TOKEN must hold a token/],
  ["http://127.0.0.1:1/p", /^quickstart: unavailable: .*connection refused/],
])("%s is a clear error", async (url, reason) => {
  const { code, errorOutput } = await runApp(foundry("--url", url, "--say", "hello"));
  expect([code, errorOutput]).toEqual([1, expect.stringMatching(reason)]);
});
