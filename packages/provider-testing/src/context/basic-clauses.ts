import { AgentSession, type ContextProvider, groupMessages, isDangling, type Message, openCalls } from "@agentfw/core";
import { ensure, same, sameList } from "../expect.ts";
import { show } from "../show.ts";
import { expectWrongOptionsRefused } from "../wrong-options.ts";
import type { ContextClause } from "./support.ts";
import { companion, fullTurn, sessionOf, Turn, text } from "./turn.ts";

const HOOKS = ["beforeRun", "afterRun", "persist", "claim", "conversationPlace"] as const;

/** What a run is given and left with. */
export const basicClauses: readonly ContextClause[] = [
  {
    id: "P01",
    title: "the source id is a text that stays the same, and the hooks are functions",
    contract: "ContextProvider",
    reason: "The source id names the provider's state and what it added; an agent refuses two that are alike.",
    async run(trial) {
      const { provider } = await trial.open();
      const { sourceId, loadsHistory } = provider;
      ensure(typeof sourceId === "string" && sourceId !== "", "the source id is a text that says something", sourceId);
      ensure([undefined, true, false].includes(loadsHistory), "loadsHistory is true, false or absent", loadsHistory);
      for (const name of HOOKS) {
        ensure(["function", "undefined"].includes(typeof provider[name]), `${name} is a function or absent`);
      }
      ensure(provider.beforeRun !== undefined || provider.afterRun !== undefined, "there is beforeRun or afterRun");
      for (const owner of ["ann", "bob"]) {
        await fullTurn(provider, { session: sessionOf(owner), runId: owner });
        same(provider.sourceId, sourceId, "the source id after a run");
      }
    },
  },
  {
    id: "P02",
    title: "every message that it adds is stamped with its source id",
    contract: "ContextProvider",
    reason: "What is stored, shown and left out again is chosen by the stamp.",
    async run(trial) {
      const { provider } = await trial.open();
      for (const turn of await twoTurns(provider)) {
        for (const { attribution } of turn.added()) {
          const isOwn = attribution?.sourceId === provider.sourceId || attribution?.originSessionIds !== undefined;
          ensure(isOwn, `a message that ${show(provider.sourceId)} added carries its source id`, attribution);
        }
        const sources = turn.run.contributions.map(({ sourceId }) => sourceId);
        ensure(
          sources.every((sourceId) => sourceId === provider.sourceId),
          "nothing is added in the name of another source",
          sources,
        );
      }
    },
  },
  {
    id: "P03",
    title: "instructions are texts, and tools have names of their own, descriptions and JSON Schema",
    contract: "ContextProvider",
    reason: "A model service refuses the whole call for one tool that it cannot read.",
    async run(trial) {
      const { provider } = await trial.open();
      for (const turn of await twoTurns(provider)) {
        for (const line of turn.run.instructions) {
          ensure(typeof line === "string" && line.trim() !== "", "a line of instructions says something", line);
        }
        const tools = turn.tools();
        for (const { name, description, parameters } of tools) {
          ensure(/^[\w-]{1,64}$/.test(name), "the name of a tool has up to 64 letters, digits, _ and -", name);
          ensure(description === undefined || typeof description === "string", "a description is a text", description);
          const schema = JSON.stringify(parameters);
          ensure(
            schema?.includes('"object"') === true,
            `the parameters of ${name} are the schema of an object`,
            schema,
          );
        }
        same(new Set(tools.map(({ name }) => name)).size, tools.length, "the number of different names of tools");
        sameList(
          turn.tools().map(({ name }) => name),
          tools.map(({ name }) => name),
          "the tools when they are asked for again",
        );
      }
    },
  },
  {
    id: "P04",
    title: "what it adds holds no call without its result, and no result without its call",
    contract: "ContextProvider; HistoryProvider",
    reason: "A model service refuses the whole call for half a tool call.",
    async run(trial) {
      const { provider } = await trial.open();
      const session = sessionOf("ann");
      for (let turn = 0; turn < 12; turn += 1) {
        const run = await new Turn([provider], { session, runId: `run-${turn}` }).begin();
        const { groups, orphans } = groupMessages(run.added(provider.sourceId));
        same(orphans.length, 0, "the number of results without their calls in what is added");
        for (const group of groups) {
          ensure(!isDangling(group), "what is added holds no reasoning without what it led to");
          ensure(openCalls(group).length === 0, "what is added holds no call without its result");
        }
        await run.answer(callAndResult(turn));
        await run.end();
      }
    },
  },
  {
    id: "P05",
    title: "the caller's input stays as it is, and so does what other providers added",
    contract: "ContextProvider",
    reason: "Providers are put together by people who have read none of them.",
    async run(trial) {
      const { provider } = await trial.open();
      const input = [text("user", "input-1", "first words"), text("user", "input-2", "last words")];
      const before = JSON.stringify(input);
      for (const order of [0, 1]) {
        const others = [companion("first"), companion("last")];
        const list =
          order === 0 ? [...others, provider] : [others[0], provider, others[1]].filter((one) => one !== undefined);
        const turn = await new Turn(list, {
          session: sessionOf(`owner ${order}`),
          runId: `run-${order}`,
          input,
        }).begin();
        await turn.answer("Well.");
        await turn.end();
        same(JSON.stringify(input), before, "the messages that the caller passed");
        same(JSON.stringify(turn.run.input), before, "the input of the run");
        for (const name of ["first", "last"]) {
          same(turn.added(name).length, 1, `the messages of the provider ${show(name)}`);
          ensure(
            turn.run.instructions.includes(`instructions of ${name}`),
            `the instructions of ${show(name)} are there`,
          );
          ensure(
            turn.tools().some((tool) => tool.name === `tool_of_${name}`),
            `the tool of ${show(name)} is there`,
          );
        }
      }
    },
  },
  {
    id: "P06",
    title: "what it keeps in the session is JSON, under its source id",
    contract: "ContextProvider; AgentSession",
    reason: "A session is serialized between requests; state under another name is another provider's.",
    async run(trial) {
      const { provider } = await trial.open();
      const session = new AgentSession({ owner: "ann", sessionId: "s-1", state: { another: { kept: [1, "two"] } } });
      for (const runId of ["run-0", "run-1"]) {
        await fullTurn(provider, { session, runId });
      }
      const { state } = session.toJSON();
      same(JSON.stringify(state["another"]), '{"kept":[1,"two"]}', "the state of another provider");
      const foreign = Object.keys(state).filter((key) => key !== "another" && key !== provider.sourceId);
      sameList(foreign, [], "keys of the state that are not the source id");
      same(JSON.stringify(Object.keys(session.state)), JSON.stringify(Object.keys(state)), "what of the state is JSON");
      same(session.serviceSessionId, undefined, "the id of a conversation that the service keeps");
    },
  },
  {
    id: "P07",
    title: "the place of a conversation is the same for one session, and another one for each other session",
    contract: "ContextProvider; HistoryProvider",
    reason: "Runs in one place are queued: too few places slow everyone down, too many let runs overtake each other.",
    async run(trial) {
      const { provider } = await trial.open();
      const session = sessionOf("ann");
      const place = provider.conversationPlace?.(session);
      if (place === undefined) {
        return trial.notCovered("the provider has no conversationPlace");
      }
      ensure(typeof place.scope === "object" && place.scope !== null, "the scope is an object", typeof place.scope);
      same(typeof place.key, "string", "the type of the key");
      const others = [sessionOf("ann", "another"), sessionOf("bob"), sessionOf("bob", session.sessionId)];
      const isSame = (other: typeof place | undefined) => other?.scope === place.scope && other.key === place.key;
      ensure(isSame(provider.conversationPlace?.(session)), "one session has one place");
      for (const other of others) {
        ensure(!isSame(provider.conversationPlace?.(other)), "another session has another place");
      }
    },
  },
  {
    id: "P08",
    title: "options that can never work are refused when the provider is made",
    contract: "ContextProvider; Errors",
    reason: "A mistake in the configuration is found when the process starts, not by the first user.",
    requires: { hooks: ["wrongOptions"] },
    async run(trial) {
      await expectWrongOptionsRefused(await trial.open());
    },
  },
];

/** Two whole runs of one session. */
async function twoTurns(provider: ContextProvider): Promise<Turn[]> {
  const session = sessionOf("ann");
  return [
    await fullTurn(provider, { session, runId: "run-0", input: "I like tea." }, "Noted."),
    await fullTurn(provider, { session, runId: "run-1", input: "What do I like?" }, "Tea."),
  ];
}

function callAndResult(turn: number): Message[] {
  const id = `run-${turn}:o0`;
  const callId = `call-${turn}`;
  return [
    { role: "assistant", messageId: id, contents: [{ type: "function_call", callId, name: "clock", arguments: "{}" }] },
    { role: "tool", messageId: `${id}/${callId}`, contents: [{ type: "function_result", callId, result: turn }] },
    text("assistant", `run-${turn}:o1`, `It is ${turn} o'clock.`),
  ];
}
