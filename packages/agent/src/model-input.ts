import {
  type CallSlot,
  type Content,
  callSlots,
  groupMessages,
  groupToMessages,
  interruptedResult,
  isPendingApproval,
  type Message,
  type MessageGroup,
  openCalls,
} from "@agentfw/core";
import type { Run } from "@agentfw/core/run";
import { modelView, newMessagesView } from "./model-view.ts";
import { readOpenCalls, resultIdsFor, writeOpenCalls } from "./open-calls.ts";

/** The source of calls that were taken up, among what a run is made of. */
const SOURCE_ID = "agentfw.service";

/** What the service is told of a call that waits for a person, when other things are said meanwhile. */
const WAITS = "This call waits for a person to approve it. It has not run.";

/** What was repaired or put off so that the model takes what it is sent. */
export type OnRepair = (event: { type: string; message: string; messageId: string; callId: string }) => void;

/** What the service is told of the calls of one message. */
interface Told {
  readonly messages: readonly Message[];
  /** Ids of the results among them. */
  readonly settled: readonly string[];
  /** The message, if its calls are put off. */
  readonly deferred: readonly string[];
}

/**
 * What a run tells the model, and where the service keeps the conversation, what that conversation waits for.
 *
 * The service has the messages. The session keeps the calls among them that have no result there yet, with what is known
 * of their results, so that an interrupted run can be taken up and a request be approved in another process.
 */
export class ModelInput {
  readonly #run: Run;
  /** Whether the service keeps what it is told. */
  readonly #stores: boolean;
  readonly #onRepair: OnRepair;
  readonly #reported = new Set<string>();
  /** Ids of results that the service has. */
  readonly #settled = new Set<string>();
  readonly #deferred: Set<string>;
  /** Ids of input that the service has. */
  #input: readonly string[];
  #isInputTold = false;
  /** Ids of answers that the service has not heard of: a middleware gave them in its place. */
  #unheard: ReadonlySet<string> = new Set();
  /** What is on its way to the service. */
  #sent: readonly Told[] = [];

  /** Takes up what the session keeps: its calls are part of what the run knows, as loaded history is. */
  constructor(run: Run, stores: boolean, onRepair: OnRepair) {
    this.#run = run;
    this.#stores = stores;
    this.#onRepair = onRepair;
    const { messages, deferred, input } = readOpenCalls(run.options.session);
    this.#deferred = new Set(deferred);
    this.#input = input;
    if (messages.length > 0) {
      run.input = run.input.filter(({ messageId }) => !input.includes(messageId));
      run.addHistory(SOURCE_ID, messages, resultIdsFor(messages, run.input));
    }
  }

  /** True when a service that keeps what it is told has taken the input. */
  get isTold(): boolean {
    return this.#isInputTold;
  }

  /** What the model is to see now: all of it, or in a conversation that the service keeps, what is new there. */
  view(conversationId: string | undefined): readonly Message[] {
    if (conversationId === undefined) {
      this.#sent = this.#stores ? toldWhole(this.#all()) : [];
      return this.#whole(this.#all());
    }
    const ours = this.#ours();
    const { groups, orphans } = groupMessages(this.#all());
    const isOurs = (group: MessageGroup): boolean => holdsCallOf(group, ours);
    this.#sent = groups.filter(isOurs).flatMap((group) => this.#told(group));
    const told = this.#sent.flatMap(({ messages }) => messages);
    const others = groups.filter((group) => !isOurs(group) && (!this.#isInputTold || this.#isUnheard(group)));
    this.#sent = [...this.#sent, ...others.map(toldAsItIs)];
    // A result without a call may be one for a call that only the service knows.
    const loose = this.#isInputTold ? [] : newMessagesView(orphans.map(({ message }) => message));
    const rest = this.#stores
      ? newMessagesView(others.flatMap((group) => this.#closed(group)))
      : this.#whole(others.flatMap(groupToMessages));
    return [...told, ...loose, ...rest];
  }

  /** The service has taken what it was sent; `answer` is what has come of it so far. */
  onTaken(answer: readonly Message[]): void {
    if (!this.#stores) {
      return;
    }
    for (const { settled, deferred } of this.#sent) {
      settled.forEach((id) => void this.#settled.add(id));
      deferred.forEach((id) => void this.#deferred.add(id));
    }
    this.#sent = [];
    this.#unheard = new Set();
    this.#isInputTold = true;
    this.#input = this.#run.options.input.map(({ messageId }) => messageId);
    this.save(answer);
  }

  /** A middleware has answered, and the service was sent nothing: it hears of the answer with the next call. */
  onAnsweredHere(answer: readonly Message[]): void {
    this.#sent = [];
    this.#unheard = new Set([...this.#unheard, ...answer.map(({ messageId }) => messageId)]);
  }

  /** Writes down in the session what is open; `answer` is what the run has made beside its complete messages. */
  save(answer: readonly Message[] = []): void {
    const { session } = this.#run.options;
    if (session.serviceSessionId === undefined) {
      return;
    }
    const ours = this.#ours(answer);
    const isOpen = (group: MessageGroup): boolean =>
      holdsCallOf(group, ours) && group.items.some(({ slots }) => slots.some((slot) => !this.#isSettled(slot)));
    const messages = groupMessages([...this.#all(), ...answer])
      .groups.filter(isOpen)
      .flatMap(groupToMessages);
    const asking = messages.filter((message) => callSlots(message).length > 0).map(({ messageId }) => messageId);
    const deferred = asking.filter((id) => this.#deferred.has(id));
    // Calls that the service does not wait for are of earlier runs than the input.
    writeOpenCalls(session, { messages, deferred, input: deferred.length < asking.length ? this.#input : [] });
  }

  #all(): Message[] {
    return this.#run.modelInput().concat(this.#run.produced);
  }

  /** Ids of the messages whose calls the service knows, or will know, from us. */
  #ours(answer: readonly Message[] = []): Set<string> {
    const history = this.#run.contributions.filter(({ isHistory }) => isHistory);
    const made = this.#stores ? [...this.#run.produced, ...answer] : [];
    const ids = [...history.flatMap(({ messages }) => messages), ...made].map(({ messageId }) => messageId);
    return new Set(ids.filter((id) => !this.#unheard.has(id)));
  }

  #isUnheard({ items }: MessageGroup): boolean {
    return items.some(({ message }) => this.#unheard.has(message.messageId));
  }

  #isSettled({ resultId }: CallSlot): boolean {
    return this.#settled.has(resultId);
  }

  #told(group: MessageGroup): Told[] {
    const isPending = isPendingApproval(group);
    return group.items.flatMap(({ message, slots }): Told[] => {
      const open = slots.filter((slot) => !this.#isSettled(slot));
      const isDeferred = this.#deferred.has(message.messageId);
      if (open.length === 0 || (isPending && isDeferred)) {
        return [];
      }
      if (isPending) {
        return [{ messages: open.map((slot) => this.#waiting(slot)), settled: [], deferred: [message.messageId] }];
      }
      const results = open.map((slot) => slot.result ?? this.#interrupted(slot));
      const settled = open.map(({ resultId }) => resultId);
      return [{ messages: isDeferred ? calledAgain(message, open, results) : results, settled, deferred: [] }];
    });
  }

  /** Messages of the input; a call without a result would be refused. */
  #closed(group: MessageGroup): Message[] {
    for (const slot of openCalls(group)) {
      slot.result = this.#interrupted(slot);
    }
    return groupToMessages(group);
  }

  #whole(messages: readonly Message[]): readonly Message[] {
    return modelView(messages, ({ type, messageId, callId }) => {
      this.#report(type, "the input was not valid for a model and was repaired", messageId, callId);
    });
  }

  #interrupted(slot: CallSlot): Message {
    const message = "a call that was left without a result was closed for the service";
    this.#report("open_call_closed", message, slot.resultId, slot.call.callId);
    return interruptedResult(slot);
  }

  #waiting(slot: CallSlot): Message {
    const message = "the service was told that a call waits for a person, and gets its result later";
    this.#report("approval_deferred", message, slot.resultId, slot.call.callId);
    const content: Content = { type: "function_result", callId: slot.call.callId, result: WAITS };
    return { role: "tool", messageId: slot.resultId, contents: [content] };
  }

  #report(type: string, message: string, messageId: string, callId: string): void {
    if (!this.#reported.has(messageId + callId)) {
      this.#reported.add(messageId + callId);
      this.#onRepair({ type, message, messageId, callId });
    }
  }
}

function holdsCallOf({ items }: MessageGroup, ids: ReadonlySet<string>): boolean {
  return items.some(({ message, slots }) => slots.length > 0 && ids.has(message.messageId));
}

/** A service that is sent the whole conversation is told every result; what waits for approval it is not shown. */
function toldWhole(messages: readonly Message[]): Told[] {
  return groupMessages(messages).groups.flatMap((group) =>
    group.items.map(({ message, slots }) =>
      isPendingApproval(group)
        ? { messages: [], settled: [], deferred: [message.messageId] }
        : { messages: [], settled: slots.map(({ resultId }) => resultId), deferred: [] },
    ),
  );
}

function toldAsItIs({ items }: MessageGroup): Told {
  const slots = items.flatMap((item) => item.slots);
  return { messages: [], settled: slots.map(({ resultId }) => resultId), deferred: [] };
}

/** The calls once more, under ids of their own, with their results: the service holds results for the first ones. */
function calledAgain(message: Message, slots: readonly CallSlot[], results: readonly Message[]): Message[] {
  const pairs = slots.map(({ call }, index) => {
    const callId = `call_${crypto.randomUUID().replaceAll("-", "")}`;
    const renamed = results.slice(index, index + 1).map((result): Message => {
      const contents = result.contents.map((entry) =>
        entry.type === "function_result" ? { ...entry, callId } : entry,
      );
      return { ...result, contents };
    });
    return { call: { ...call, callId }, renamed };
  });
  const calls = { ...message, contents: pairs.map(({ call }) => call) };
  return [calls, ...pairs.flatMap(({ renamed }) => renamed)];
}
