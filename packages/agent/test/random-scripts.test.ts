import type { MessageInput } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { storedMessages } from "./fixture.ts";
import { type Mishap, World } from "./random-world.ts";
import { expectNoUnheardRejections } from "./streaming.ts";

expectNoUnheardRejections();

/** Chance decides what happens; the seed in a failing title repeats it. */
const SEEDS: readonly number[] = Array.from({ length: 150 }, (_, index) => index + 1);
const STEPS = 14;
const KINDS: readonly Mishap["kind"][] = ["none", "none", "none", "abort", "crash", "store", "break"];

function mishap({ random }: World): Mishap {
  return { kind: KINDS[random(KINDS.length)] ?? "none", at: 1 + random(9) };
}

/** What the user does next: talks, or answers what the last run left open, all of it or a part. */
function nextInput(world: World): MessageInput[] {
  const { pending, random } = world;
  const requests = pending?.approvalRequests ?? [];
  const calls = pending?.openCalls ?? [];
  if (requests.length > 0 && random(3) > 0) {
    const answered = requests.filter(() => random(3) > 0);
    const contents = answered.map(({ id }) => ({
      type: "function_approval_response" as const,
      id,
      approved: random(3) > 0,
    }));
    return contents.length === 0 ? [{ role: "user", contents: "later" }] : [{ role: "user", contents }];
  }
  if (calls.length > 0 && random(3) > 0) {
    const answered = calls.filter(() => random(4) > 0);
    return [
      ...answered.map(({ callId }) => ({
        role: "tool" as const,
        contents: [{ type: "function_result" as const, callId, result: "from the caller" }],
      })),
      ...(answered.length === 0 || random(3) === 0 ? [{ role: "user" as const, contents: "there you are" }] : []),
    ];
  }
  return [{ role: "user", contents: "go on" }];
}

/** Answers to requests are stored under ids that are the same whoever gives them. */
function idsInStore({ messageId, contents }: MessageInput & { messageId: string }): string[] {
  const parts = typeof contents === "string" ? [] : contents;
  const answers = parts.flatMap((part) =>
    typeof part === "object" && part.type === "function_approval_response" ? [`${part.id}/#answer`] : [],
  );
  return answers.length === 0 ? [messageId] : answers;
}

async function step(world: World): Promise<void> {
  const runId = world.newName();
  const input = nextInput(world).map((message, index) => ({ ...message, messageId: `${runId}:i${index}` }));
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const response = await world.run(input, runId, attempt < 3 ? mishap(world) : { kind: "none", at: 0 });
    if (response !== undefined) {
      world.pending = response;
      const said = input.filter(({ role }) => role === "user").flatMap(idsInStore);
      for (const id of [...said, ...response.messages.map(({ messageId }) => messageId)]) {
        world.acknowledged.add(id);
      }
      return;
    }
    if (world.isDead || world.random(2) === 0) {
      world.restart();
    }
    if (world.random(3) === 0) {
      return;
    }
  }
}

describe("Whatever the model, the tools, the user and the machine do", () => {
  it.each(SEEDS)("every request is valid, and what was acknowledged is stored once (seed %i)", async (seed) => {
    const world = new World(seed);
    for (let count = 0; count < STEPS; count += 1) {
      await step(world);
    }
    world.restart();
    const last = await world.run([{ role: "user", contents: "the end" }], "last", { kind: "none", at: 0 });
    expect(last, "a conversation can always go on").toBeDefined();
    expect(world.faults).toEqual([]);
    const ids = (await storedMessages(world.store)).map(({ messageId }) => messageId);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...world.acknowledged].filter((id) => !ids.includes(id))).toEqual([]);
    if (world.perCall) {
      expect(Math.max(0, ...world.runs.values()), "no tool runs twice for one call").toBeLessThanOrEqual(1);
    }
  });
});
