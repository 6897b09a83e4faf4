import { type Content, type Message, resultMessageId } from "../../src/index.ts";
import {
  approvalRequest,
  approvalResponse,
  assistant,
  call,
  reasoning,
  result,
  resultOf,
  toolMessage,
} from "./messages.ts";
import type { Random } from "./random.ts";

/** Few enough that they collide all the time, as those of some services do. */
const CALL_IDS = ["call_0", "call_1", "#1/call_0", "", "x/y"];

/** Makes messages as runs, crashes, foreign writers and damaged programs leave them. */
export class RandomHistory {
  readonly #random: Random;
  #made = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  #id(): string {
    this.#made += 1;
    return `m${this.#made}`;
  }

  user(): Message {
    return { role: "user", messageId: this.#id(), contents: [{ type: "text", text: "hello" }] };
  }

  /** What a run produces, in the order in which it is stored: rounds of calls and results, and an answer. */
  run(): Message[] {
    const messages: Message[] = [];
    for (let round = this.#random.below(3); round > 0; round -= 1) {
      messages.push(...this.#round());
    }
    if (this.#random.onceIn(3)) {
      messages.push(reasoning(this.#id()));
    }
    return [...messages, assistant(this.#id())];
  }

  #round(): Message[] {
    const before = this.#random.onceIn(3) ? [reasoning(this.#id())] : [];
    const calls = this.#calls();
    const results = calls.map((content, index) => {
      const occurrence = calls.slice(0, index).filter(({ callId }) => callId === content.callId).length;
      const own = resultOf(this.#callMessageId, content.callId);
      return { ...own, messageId: resultMessageId(this.#callMessageId, content.callId, occurrence) };
    });
    const text: Content[] = this.#random.onceIn(4) ? [{ type: "text", text: "let me see" }] : [];
    const shuffled = this.#random.onceIn(3) ? results.toReversed() : results;
    return [...before, assistant(this.#callMessageId, ...text, ...calls), ...shuffled];
  }

  #callMessageId = "";

  #calls(): (Content & { type: "function_call" })[] {
    this.#callMessageId = this.#id();
    return Array.from({ length: 1 + this.#random.below(3) }, () => call(this.#random.pick(CALL_IDS)));
  }

  /** What no run of ours stores: results without calls, several in a message, beside text, reasoning that leads nowhere. */
  oddities(): Message[] {
    const callId = this.#random.pick(CALL_IDS);
    switch (this.#random.below(8)) {
      case 0:
        return [toolMessage(this.#id(), callId)];
      case 1:
        return [toolMessage(this.#id(), callId, this.#random.pick(CALL_IDS))];
      case 2:
        return [reasoning(this.#id())];
      case 3:
        return [{ ...this.user(), contents: [{ type: "text", text: "here" }, result(callId)] }];
      case 4:
        return [assistant(this.#id(), call(callId), result(callId))];
      case 5:
        return [{ role: "user", messageId: this.#id(), contents: [result(callId)] }];
      case 6:
        return [{ role: "assistant", messageId: this.#id(), contents: [] }];
      default:
        return [assistant(this.#id(), call(callId)), this.user(), assistant(this.#id(), call(callId))];
    }
  }

  /** Calls that a person must approve, answered in part, later or never. */
  approval(): Message[] {
    const calls = this.#calls();
    const id = this.#callMessageId;
    const first = calls[0]!;
    const requestId = `${id}/${first.callId}`;
    const asked = assistant(id, ...calls, approvalRequest(requestId, first));
    const between = this.#random.onceIn(2) ? [this.user(), assistant(this.#id())] : [];
    const answer: Message = { ...this.user(), contents: [approvalResponse(requestId, this.#random.onceIn(2))] };
    const settled = calls.map(({ callId }) => resultOf(id, callId));
    const parts: Message[][] = [
      [asked],
      between,
      [answer],
      [...new Map(settled.map((m) => [m.messageId, m])).values()],
    ];
    return parts.slice(0, 1 + this.#random.below(4)).flat();
  }

  /** Something of everything. */
  messages(count: number): Message[] {
    const messages: Message[] = [];
    while (messages.length < count) {
      const kind = this.#random.below(10);
      if (kind < 6) {
        const run = [this.user(), ...this.run()];
        const isCrash = this.#random.onceIn(3);
        messages.push(...(isCrash ? run.slice(0, 1 + this.#random.below(run.length)) : run));
      } else {
        messages.push(...(kind < 8 ? this.approval() : this.oddities()));
      }
    }
    return messages;
  }
}
