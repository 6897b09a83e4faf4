import { AgentFrameworkError, type AgentSession, HistoryProvider } from "@agentfw/core";
import { describe, expect, it, vi } from "vitest";
import { Agent, type VerifyServiceSession } from "../src/index.ts";
import { failureOf, TestStore } from "./fixture.ts";
import { KeepingService, restored } from "./keeping-service.ts";

/** An agent on a service, and a session of ann's that the service keeps, as another process left it. */
async function resumed(verifyServiceSession: VerifyServiceSession) {
  const service = new KeepingService(["one", "two", "three"], false);
  const store = new TestStore();
  const agent = new Agent({
    client: service,
    contextProviders: [new HistoryProvider(store)],
    verifyServiceSession,
  });
  const session = agent.createSession({ owner: "ann" });
  await agent.run("a", { session });
  store.calls.length = 0;
  return { agent, service, store, session: restored(session) };
}

const everyPath: readonly [string, (agent: Agent, session: AgentSession) => Promise<unknown>][] = [
  ["a session's JSON", (agent, session) => agent.run("b", { session })],
  ["a stream", (agent, session) => agent.runStream("b", { session }).finalResponse()],
  [
    "getSession",
    (agent, { serviceSessionId = "" }) =>
      agent.run("b", { session: agent.getSession({ serviceSessionId, owner: "ann" }) }),
  ],
  [
    "the options of a run",
    (agent, { serviceSessionId = "" }) =>
      agent.run("b", {
        session: agent.createSession({ owner: "ann" }),
        chatOptions: { conversationId: serviceSessionId },
      }),
  ],
];

describe("Whose a conversation at a service is", () => {
  it.each(everyPath)("is asked before it is resumed by %s", async (_, resume) => {
    const verify = vi.fn(async () => true);
    const { agent, service, session } = await resumed(verify);
    const id = session.serviceSessionId;
    await resume(agent, session);
    expect(verify.mock.calls).toEqual([[id, "ann", { signal: expect.any(AbortSignal) }]]);
    expect(service.requests).toHaveLength(2);
  });

  it.each(everyPath)("is unauthorized when it is another's, and nothing is sent or stored: %s", async (_, resume) => {
    const { agent, service, store, session } = await resumed(() => false);
    expect(await failureOf(resume(agent, session))).toMatchObject({ code: "unauthorized" });
    expect(service.requests).toHaveLength(1);
    expect(store.calls).toEqual([]);
  });

  it("is asked with nobody as the owner in a run without a session", async () => {
    const verify = vi.fn(() => true);
    const { agent, session } = await resumed(verify);
    await agent.run("b", { chatOptions: { conversationId: session.serviceSessionId } });
    expect(verify).toHaveBeenCalledWith(session.serviceSessionId, null, expect.anything());
  });

  it("is not asked of a conversation that the service gave to this very session", async () => {
    const verify = vi.fn(() => true);
    const { agent, session } = await resumed(verify);
    await agent.run("b", { session });
    await agent.run("c", { session });
    expect(verify).toHaveBeenCalledTimes(1);
  });

  it("is asked again when the program puts another id on a session", async () => {
    const verify = vi.fn((id: string) => !id.includes("stolen"));
    const { agent, session } = await resumed(verify);
    await agent.run("b", { session });
    session.serviceSessionId = "resp_stolen";
    expect(await failureOf(agent.run("c", { session }))).toMatchObject({ code: "unauthorized" });
  });

  it.each<[string, VerifyServiceSession, object]>([
    ["an error", () => Promise.reject(new Error("the table is gone")), { code: "unavailable", retryable: true }],
    [
      "an error of the framework",
      () => {
        throw new AgentFrameworkError("timeout", "too slow");
      },
      { code: "timeout" },
    ],
    ["no answer", () => JSON.parse("null"), { code: "configuration" }],
  ])("is never taken for granted: %s ends the run", async (_, verify, expected) => {
    const { agent, service, session } = await resumed(verify);
    expect(await failureOf(agent.run("b", { session }))).toMatchObject(expected);
    expect(service.requests).toHaveLength(1);
  });

  it("is waited for no longer than the caller waits", async () => {
    const { agent, service, session } = await resumed(() => new Promise(() => undefined));
    const controller = new AbortController();
    const run = failureOf(agent.run("b", { session, signal: controller.signal }));
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await run).toBe(reason);
    expect(service.requests).toHaveLength(1);
  });

  it("is asked by a function, or not at all", () => {
    const construct = () =>
      Reflect.construct(Agent, [{ client: new KeepingService([], true), verifyServiceSession: 7 }]);
    expect(construct).toThrow("verifyServiceSession: ");
  });
});
