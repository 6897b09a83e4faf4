import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { startAzurite } from "@agentfw/test-servers";
import { ContainerClient, ContainerSASPermissions } from "@azure/storage-blob";
import { expect, onTestFinished, test } from "vitest";
import { type Outcome, runApp, startApp, temporaryFolder } from "./support/app.ts";
import { linesOf, regular } from "./support/recordings.ts";

const pids = (output: string) => [...output.matchAll(/^ {2}process (\d+), session/gm)].map(([, pid]) => pid);
const blob = (...args: string[]) => ["--backend", "blob", ...args];

/** An account that is there before the app and after it, and the URL of a container in it with a SAS. */
async function account(): Promise<{ connectionString: string; container: ContainerClient; url: string }> {
  const { connectionString, stop } = await startAzurite();
  onTestFinished(stop);
  const container = new ContainerClient(connectionString, "mine");
  await container.create();
  const expiresOn = new Date(Date.now() + 3_600_000);
  const url = await container.generateSasUrl({ permissions: ContainerSASPermissions.parse("racwdl"), expiresOn });
  return { connectionString, container, url };
}

async function blobNames(container: ContainerClient): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of container.listBlobsFlat()) {
    names.push(name);
  }
  return names;
}

function expectStopped({ errorOutput }: Outcome): Promise<void> {
  const port = Number(/Started Azurite on port (\d+)\. /.exec(errorOutput)?.[1]);
  expect(port).toBeGreaterThan(0);
  const isListening = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true));
      socket.on("error", () => resolve(false)).on("connect", () => socket.destroy());
    });
  return expect.poll(isListening, { timeout: 10_000 }).toBe(false);
}

// Azurite is fetched at the first run on a machine, which takes a while.
test("with nothing configured it starts Azurite, which both processes use, and stops it", {
  timeout: 300_000,
}, async () => {
  const outcome = await runApp(blob());
  expect(outcome.code).toBe(0);
  const { output, errorOutput } = outcome;
  expect(errorOutput.match(/Started Azurite/g)).toHaveLength(1);
  expect(new Set(pids(output)).size).toBe(2);
  expect(output.split("Turn 2.")[1]).toContain('You told me: "Remember that I like Italian food."');
  expect(output).toContain("/agentfw-quickstart/agentfw-quickstart/local-user/history/demo/");
  expect(output).toContain("it ends now, with this command");
  expect(output).toContain("--chat --backend=blob\n");
  await expectStopped(outcome);
});

test("with a URL what it stored stays, later commands go on with it, and no signature is printed", async () => {
  const { container, url } = await account();
  const options = blob("--url", url, "--owner", "ann/b", "--session", "s 1");
  expect(await runApp(options)).toMatchObject({ code: 0, errorOutput: "" });
  const again = await runApp(options);
  expect(again.output).toContain("holds 4 messages from earlier");
  const signature = new URL(url).searchParams.get("sig") ?? "";
  expect(again.output).not.toContain(signature);
  expect(again.output).not.toContain(encodeURIComponent(signature));
  expect(await blobNames(container)).toEqual(["agentfw-quickstart/ann=002fb/history/s=00201/s999999999-0.jsonl"]);
  expect(again.output).toContain("agentfw-quickstart/ann=002fb/history/s=00201/");
  const cleared = await runApp(options.concat("--chat"), { input: "/clear\n/history\n" });
  expect(cleared.output).toContain("Nothing is stored.");
  expect(await blobNames(container)).toEqual([]);
});

test("with an account in the environment it makes a container there, and stays", async () => {
  const { connectionString } = await account();
  const environment = { AZURE_STORAGE_CONNECTION_STRING: connectionString };
  const outcome = await runApp(blob(), { environment });
  expect(outcome).toMatchObject({ code: 0, errorOutput: "" });
  expect(outcome.output).toContain(
    "az storage blob download --container-name agentfw-quickstart --name agentfw-quickstart/",
  );
  expect(outcome.output).not.toContain("AccountKey");
  const made = new ContainerClient(connectionString, "agentfw-quickstart");
  expect(await blobNames(made)).toHaveLength(1);
  const next = await runApp(blob("--say", "What do I like?"), { environment });
  expect(next.output).toContain('You told me: "Remember that I like Italian food."');
});

test("recordings load equal in new processes, and can be compared again", async () => {
  const { connectionString } = await account();
  const environment = { AZURE_STORAGE_CONNECTION_STRING: connectionString };
  const names = ["plain", "several calls at once", "many rounds", "no messages"];
  const file = join(await temporaryFolder(), "recordings.jsonl");
  const some = Object.fromEntries(names.map((name) => [name, regular[name] ?? []]));
  await writeFile(file, `${linesOf(some).join("\n")}\n`);
  const replayed = await runApp(blob("--transcripts", file, "--replay", "r"), { environment });
  expect(replayed.output).toContain(
    `Conversations  ${names.length}, of which ${names.length} load equal in a new process`,
  );
  expect(replayed.code).toBe(0);
  const check = await runApp(blob("--transcripts", file, "--replay", "r", "--check"), { environment });
  expect(check.code).toBe(0);
});

test("a program that is killed leaves no server behind", async () => {
  const app = startApp(blob("--chat"));
  await app.says("/help shows the commands.");
  app.process.kill("SIGKILL");
  await expectStopped(await app.ended);
});

test.each([
  ["http://127.0.0.1:1/account/container?sig=secret", /^quickstart: unavailable: /],
  ["http://127.0.0.1:1", /^quickstart: configuration: url: must be the URL of a container/],
])("%s is a clear error", async (url, error) => {
  for (const args of [[], ["--say", "hello"], ["--chat"]]) {
    const { code, output, errorOutput } = await runApp(blob("--url", url, ...args));
    expect(errorOutput).toMatch(error);
    expect(output + errorOutput).not.toContain("secret");
    expect(errorOutput).not.toContain("    at ");
    expect(code).toBe(1);
  }
});
