import fs from "node:fs";
import { createInterface } from "node:readline";
import { Agent, type AgentResponse } from "@agentfw/agent";
import {
  type ChatClient,
  type ChatUpdate,
  type Content,
  HistoryProvider,
  type Message,
  type MessageInput,
  type Tool,
} from "@agentfw/core";
import { requestFault } from "../support/valid-request.ts";
import { faultsOf } from "./faults.ts";
import { FaultyStore, Mishaps } from "./mishaps.ts";
import { openPlace } from "./places.ts";
import { chance, type Job, type Told } from "./protocol.ts";

const { faults, reached } = await faultsOf(JSON.parse(process.argv[2] ?? ""));
/** Short, because a silent store takes all of it; the provider's own is longer, so that the store's counts. */
const store = openPlace(reached, 1000);

/** Reaches the parent even if the process is killed right afterwards. */
function tell(told: Told): void {
  fs.writeSync(1, `${JSON.stringify(told)}\n`);
}

process.on("unhandledRejection", (error) => tell({ type: "unheard", error: String(error) }));

/** A model that says and asks for what chance wants, and refuses what a strict service refuses. */
function model(random: (below: number) => number, { seed, habits }: Job, mishaps: Mishaps): ChatClient {
  let calls = 0;
  const pieces = (): Content[][] => {
    const said: Content[][] = random(3) === 0 ? [[{ type: "text_reasoning", text: "hm" }]] : [];
    if (random(2) === 0) {
      said.push([{ type: "text", text: "let me " }], [{ type: "text", text: "see" }]);
    }
    const count = random(5) < 2 ? 0 : 1 + random(3);
    const asked = Array.from({ length: count }, (): Content[] => {
      calls += 1;
      const tool = ["act", "act", "act", "ask", "fail", "unknown"][random(6)] ?? "act";
      const callId = habits.repeatsCallIds && random(3) === 0 ? "same" : `c${seed}-${calls}`;
      return [{ type: "function_call", callId, name: tool, arguments: "{}" }];
    });
    return count === 0 ? [...said, [{ type: "text", text: "that is all" }]] : [...said, ...asked];
  };
  return {
    contractVersion: 1,
    storesByDefault: false,
    async *stream(messages: readonly Message[]): AsyncGenerator<ChatUpdate> {
      const fault = requestFault(messages);
      if (fault !== undefined) {
        tell({ type: "refused", fault });
      }
      await mishaps.pass();
      for (const contents of pieces()) {
        yield { contents };
        await mishaps.pass();
      }
    },
  };
}

function tools(session: string, mishaps: Mishaps): Tool[] {
  const make = (name: string, work: () => unknown, approval?: "required"): Tool => ({
    name,
    approval,
    parameters: { type: "object" },
    execute: async (_, { idempotencyKey }) => {
      await mishaps.pass();
      tell({ type: "effect", session, key: idempotencyKey });
      await mishaps.pass();
      return work();
    },
  });
  const fail = (): never => {
    throw new Error("no");
  };
  return [make("act", () => "done"), make("ask", () => "done", "required"), make("fail", fail)];
}

async function run(job: Job): Promise<void> {
  const { habits, session, runId, seed } = job;
  const mishaps = new Mishaps(job.mishap, faults, (kind) => tell({ type: "mishap", kind }));
  const reported: string[] = [];
  const { historyPersistence, repeatsCallIds: _, ...kept } = habits;
  const provider = new HistoryProvider(new FaultyStore(store, mishaps), { ...kept, timeoutMs: 2000 });
  const agent = new Agent({
    client: model(chance(seed), job, mishaps),
    tools: tools(session, mishaps),
    historyPersistence,
    contextProviders: [provider],
    maxModelCalls: 4,
    onConflict: "retry",
    onLoadFailure: "continue",
    onDiagnostic: ({ type }) => {
      reported.push(type);
      if (type === "run_retried" || type === "turn_stored_again") {
        tell({ type: "retried", how: type });
      }
    },
  });
  const stream = agent.runStream(inputOf(job), {
    session: agent.createSession({ sessionId: session, owner: "ann" }),
    runId,
    signal: mishaps.controller.signal,
  });
  try {
    const response = await read(stream, job, mishaps);
    // Whoever gives an answer, it is stored under an id of its request.
    const answered = job.answers.map(({ id }) => `${id}/#answer`);
    const ids = [job.inputId, ...answered, ...response.messages.map(({ messageId }) => messageId)];
    const requests = response.approvalRequests.map(({ id }) => id);
    await mishaps.end();
    tell({ type: "done", ids, requests, withoutHistory: response.historyError !== undefined, reported });
  } catch (error) {
    await mishaps.end();
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    tell({ type: "failed", error: `${code} ${String(error)}` });
  }
}

function inputOf({ inputId, answers }: Job): MessageInput[] {
  const contents = answers.map((answer) => ({ type: "function_approval_response" as const, ...answer }));
  const said: MessageInput = { role: "user", messageId: inputId, contents: inputId };
  return contents.length === 0 ? [said] : [said, { role: "user", messageId: `${inputId}#answers`, contents }];
}

async function read(
  stream: ReturnType<Agent["runStream"]>,
  { isStreamed, mishap }: Job,
  mishaps: Mishaps,
): Promise<AgentResponse> {
  if (isStreamed || mishap.kind === "leave") {
    for await (const _ of stream) {
      if (mishaps.isDue("leave")) {
        break;
      }
    }
  }
  return stream.finalResponse();
}

tell({ type: "ready" });
for await (const line of createInterface({ input: process.stdin })) {
  await run(JSON.parse(line));
}
await store.close?.();
