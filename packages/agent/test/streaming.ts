import { afterAll, beforeAll, expect } from "vitest";
import type { AgentResponseStream } from "../src/index.ts";
import { type Fixture, type FixtureOptions, open, settled } from "./fixture.ts";
import type { Answer } from "./scripted-client.ts";

/** The model's answer in four pieces. */
export const PIECES: readonly string[] = ["Hel", "lo", " wor", "ld"];

/** Fails the file when a promise rejects without anybody hearing of it: that ends a process. */
export function expectNoUnheardRejections(): void {
  const rejections: unknown[] = [];
  const note = (reason: unknown) => rejections.push(reason);
  beforeAll(() => {
    process.on("unhandledRejection", note);
  });
  afterAll(async () => {
    await settled();
    process.off("unhandledRejection", note);
    expect(rejections).toEqual([]);
  });
}

/** A conversation with one turn in it, over a store that takes its time. */
export async function begun(script: readonly Answer[], options: FixtureOptions = {}): Promise<Fixture> {
  const fixture = open(["a0", ...script], options);
  await fixture.agent.run("u0", { session: fixture.session() });
  fixture.store.calls.length = 0;
  fixture.store.before = () => new Promise((resolve) => setTimeout(resolve, 150));
  return fixture;
}

/** Reads a stream until the callback says `stop`. */
export async function read(stream: AgentResponseStream, onPiece: (count: number) => unknown): Promise<void> {
  let count = 0;
  for await (const _ of stream) {
    count += 1;
    if (onPiece(count) === "stop") {
      break;
    }
  }
}

/** A model that says something and then does not care whether anybody still listens. */
export const deaf: Answer = async function* () {
  yield { contents: [{ type: "text", text: "Hel" }] };
  await new Promise(() => undefined);
};
