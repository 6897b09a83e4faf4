import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { startReplica } from "./support/replica.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

/** The commands that are marked to be run, each with the output that stands behind it. */
const examples = [...readme.matchAll(/^```sh run\n(.*?)^```\n\n```(?:json|text)\n(.*?)^```$/gms)].map(
  ([, command = "", output = ""]) => ({ command, output }),
);

/** Times are not the same twice. */
function comparable(text: string): string {
  return text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>").trim();
}

test("every command of the README prints what the README says", async () => {
  const replica = await startReplica({
    backend: "redis",
    environment: { CHAT_USER_HEADER: "", CHAT_TOKENS: '{"a-long-random-token":"ann"}' },
  });
  onTestFinished(() => replica.kill());
  const env = { ...process.env, CHAT: replica.url, TOKEN: "a-long-random-token" };
  expect(examples.length).toBe(readme.match(/^```sh run$/gm)?.length);
  expect(examples.length).toBeGreaterThan(7);
  for (const { command, output } of examples) {
    const { stdout, stderr } = await promisify(execFile)("sh", ["-ec", command], { env });
    expect({ command, output: comparable(stdout), stderr }).toEqual({
      command,
      output: comparable(output),
      stderr: "",
    });
  }
});

test("without databases and tokens it starts its own, and says what they are worth", async () => {
  const replica = await startReplica({ backend: "postgres", environment: { CHAT_USER_HEADER: "" } });
  onTestFinished(() => replica.kill());
  expect(replica.told()).toContain("answers come from a stand-in that is no model");
  await expect.poll(() => replica.told()).toMatch(/Its postgres ends with it.*\nSign in as demo with the token \w{32}/);
  const token = /token (\w+)/.exec(replica.told())?.[1] ?? "";
  const headers = { authorization: `Bearer ${token}` };
  expect((await fetch(`${replica.url}/chats`, { method: "POST", headers })).status).toBe(201);
  expect(replica.logText()).not.toContain(token);
  replica.process.kill("SIGTERM");
  expect(await replica.ended).toEqual({ code: 0, signal: null });
});
