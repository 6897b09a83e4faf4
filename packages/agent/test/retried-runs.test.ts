import { AgentFrameworkError } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { functionMiddleware, tool } from "../src/index.ts";
import { failureOf, gate, open, reopen, settled } from "./fixture.ts";
import { call, shape } from "./scripted-client.ts";

const MODES = ["per-run", "per-service-call"] as const;

function counted(execute: () => unknown = () => "rain") {
  const ran: string[] = [];
  const weather = tool({
    name: "weather",
    parameters: { type: "object" },
    execute: () => {
      ran.push("weather");
      return execute();
    },
  });
  return { tools: [weather], ran };
}

describe("A run that was given up after a tool had answered, and is tried again under its name", () => {
  it.each(MODES)("goes on with the model, and runs no tool again (%s)", async (historyPersistence) => {
    const { tools, ran } = counted();
    const options = { tools, historyPersistence, history: { keepPartial: true } };
    const first = open([[call("1", "weather")], "never read"], options);
    for await (const update of first.agent.runStream("Weather?", { session: first.session(), runId: "r" })) {
      if (update.role === "tool") {
        break;
      }
    }
    const second = reopen(first, ["It rains."], options);
    const response = await second.agent.run("Weather?", { session: second.session(), runId: "r" });
    expect(response.text).toBe("It rains.");
    expect(ran).toHaveLength(1);
    expect(shape(await second.stored()).at(-1)).toBe("assistant: It rains.");
  });

  it("that an abort ended while the model thought is no answer either", async () => {
    const { tools, ran } = counted();
    const options = { tools, history: { keepPartial: true } };
    const controller = new AbortController();
    const thinking = gate();
    const first = open(
      [
        [{ type: "text", text: "I look it up." }, call("1", "weather")],
        () => ({
          [Symbol.asyncIterator]: () => ({
            next: () => {
              thinking.open();
              return new Promise(() => undefined);
            },
          }),
        }),
      ],
      options,
    );
    const run = first.agent.run("Weather?", { session: first.session(), runId: "r", signal: controller.signal });
    await thinking.passed;
    controller.abort();
    await failureOf(run);
    const second = reopen(first, ["It rains."], options);
    expect((await second.agent.run("Weather?", { session: second.session(), runId: "r" })).text).toContain("It rains.");
    expect(ran).toHaveLength(1);
  });
});

describe("A finished run that ended in results, and is tried again under its name", () => {
  it.each(MODES)("asks no model and runs no tool when middleware ended it (%s)", async (historyPersistence) => {
    const { tools, ran } = counted();
    const end = functionMiddleware((invocation, next) => {
      invocation.terminate();
      return next();
    });
    const fixture = open([[call("1", "weather")]], { tools, middleware: [end], historyPersistence });
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await fixture.agent.run("Weather?", { session: fixture.session(), runId: "r" });
    }
    expect(fixture.client.calls).toHaveLength(1);
    expect(ran).toHaveLength(1);
  });

  it.each(MODES)("asks no model and runs no tool when tools were off (%s)", async (historyPersistence) => {
    const { tools, ran } = counted();
    const script = [[call("1", "weather")], [call("2", "weather")], [call("3", "weather")]];
    const fixture = open(script, { tools, maxModelCalls: 2, historyPersistence });
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await fixture.agent.run("Weather?", { session: fixture.session(), runId: "r" });
    }
    expect(fixture.client.calls).toHaveLength(3);
    expect(ran).toHaveLength(2);
  });
});

describe("A run that cannot store one of several results", () => {
  it("ends when the other tools have, and writes nothing afterwards", async () => {
    const slow = gate();
    const tools = [
      tool({ name: "fast", parameters: { type: "object" }, execute: () => "fast" }),
      tool({ name: "slow", parameters: { type: "object" }, execute: () => slow.passed }),
    ];
    const fixture = open([[call("1", "fast"), call("2", "slow")]], { tools, historyPersistence: "per-service-call" });
    let appends = 0;
    fixture.store.before = ({ name }) => {
      appends += name === "append" ? 1 : 0;
      if (name === "append" && appends > 1) {
        throw new AgentFrameworkError("unavailable", "away");
      }
    };
    let hasEnded = false;
    const run = failureOf(fixture.agent.run("go", { session: fixture.session() })).then((error) => {
      hasEnded = true;
      return error;
    });
    await settled();
    expect(hasEnded).toBe(false);
    slow.open();
    expect(await run).toMatchObject({ code: "unavailable" });
    const { length } = fixture.store.calls;
    await settled();
    expect(fixture.store.calls).toHaveLength(length);
  });
});
