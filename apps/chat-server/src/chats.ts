import { randomUUID } from "node:crypto";
import { type Agent, type AgentResponse, type AgentResponseStream, chatMiddleware } from "@agentfw/agent";
import {
  AgentSession,
  type HistoryProvider,
  isAgentFrameworkError,
  type MessageInput,
  type SessionStore,
} from "@agentfw/core";
import { HttpProblem, noSuchChat } from "./errors.ts";
import type { Turn, Turns } from "./turns.ts";
import { type ChatState, type ChatView, chatState, chatView, type MessageView, messageView } from "./views.ts";

/** What {@link Chats} is made of. */
export interface ChatsParts {
  readonly agent: Agent;
  readonly history: HistoryProvider;
  readonly sessions: SessionStore;
  readonly turns: Turns;
  /** Hears of failures that change no answer. */
  readonly onFailure: (message: string, error: unknown) => void;
}

/** How a run is asked for. */
export interface RunOptions {
  /** Names the run: when it was stored before, its answer is given again. */
  readonly runId: string;
  readonly signal: AbortSignal;
}

/** A page of chats or of messages. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly cursor?: string | undefined;
}

/** An answer of the user to a question of the agent. */
export interface ApprovalAnswer {
  readonly id: string;
  readonly approved: boolean;
  readonly reason?: string | undefined;
}

/** A run that has begun. */
interface ChatRun {
  readonly stream: AgentResponseStream;
  end(): Promise<void>;
}

/** How many messages an approval may lie back. */
const APPROVAL_WINDOW = 200;

/**
 * The chats of all users. Holds none of them: each is a session in the state store and a conversation in the history
 * store, both bound to their owner, so any replica goes on with any chat. A chat of somebody else is none.
 */
export class Chats {
  readonly #parts: ChatsParts;

  constructor(parts: ChatsParts) {
    this.#parts = parts;
  }

  /** Makes a chat. With an id, a repetition gives the chat that is there. */
  async create(
    owner: string,
    { id = randomUUID(), title = "" }: { id?: string | undefined; title?: string | undefined },
  ): Promise<ChatView> {
    const now = new Date().toISOString();
    const chat: ChatState = { title, createdAt: now, updatedAt: now, modelCalls: 0 };
    const session = new AgentSession({ sessionId: id, owner, state: { chat } });
    try {
      await this.#parts.sessions.save(session);
    } catch (error) {
      if (isAgentFrameworkError(error, "conflict")) {
        return chatView(await this.open(owner, id));
      }
      throw error;
    }
    return chatView(session);
  }

  /** The chats of an owner, oldest first. */
  async list(owner: string, options: { limit: number; cursor?: string | undefined }): Promise<Page<ChatView>> {
    const { sessionIds, cursor } = await this.#parts.sessions.list({ owner, ...options });
    const sessions = await Promise.all(sessionIds.map((id) => this.#parts.sessions.load(id, { owner })));
    // One that was deleted since the list was made is left out.
    return { items: sessions.filter((session) => session !== undefined).map(chatView), cursor };
  }

  /** The session of a chat. @throws HttpProblem 404 when this owner has no such chat. */
  async open(owner: string, id: string): Promise<AgentSession> {
    const session = await this.#parts.sessions.load(id, { owner });
    if (session === undefined) {
      throw noSuchChat();
    }
    return session;
  }

  /** The newest messages, oldest first, or those before a cursor. */
  async messages(
    owner: string,
    id: string,
    options: { last: number; before?: string | undefined },
  ): Promise<Page<MessageView>> {
    const session = await this.open(owner, id);
    const { messages, older } = await this.#parts.history.conversation(session).messages(options);
    return { items: messages.map(messageView), cursor: older };
  }

  /** Runs to the end. @throws HttpProblem 404 when this owner has no such chat, or it was deleted meanwhile. */
  async answer(owner: string, id: string, input: MessageInput, options: RunOptions): Promise<AgentResponse> {
    const run = await this.#start(owner, id, input, options);
    try {
      return await run.stream.finalResponse();
    } finally {
      await run.end();
    }
  }

  /** The pieces of the answer's text as they come, then the response, when everything is stored. Throws as `answer`. */
  async *stream(
    owner: string,
    id: string,
    input: MessageInput,
    options: RunOptions,
  ): AsyncGenerator<string | AgentResponse, void> {
    const run = await this.#start(owner, id, input, options);
    try {
      for await (const { text } of run.stream) {
        if (text !== "") {
          yield text;
        }
      }
    } finally {
      await run.end();
    }
    yield await run.stream.finalResponse();
  }

  /**
   * Input that answers questions of the agent.
   *
   * @throws HttpProblem 404 for a question that was never asked, 409 for one that was answered otherwise.
   */
  async approvalInput(owner: string, id: string, answers: readonly ApprovalAnswer[]): Promise<MessageInput> {
    const conversation = this.#parts.history.conversation(await this.open(owner, id));
    const { messages } = await conversation.messages({ last: APPROVAL_WINDOW });
    const contents = messages.flatMap((message) => message.contents);
    for (const { id: asked, approved } of answers) {
      if (!contents.some((content) => content.type === "function_approval_request" && content.id === asked)) {
        throw new HttpProblem(404, "not_found", "There is no such approval request in this chat.");
      }
      const given = contents.find((content) => content.type === "function_approval_response" && content.id === asked);
      if (given?.type === "function_approval_response" && given.approved !== approved) {
        throw new HttpProblem(409, "already_answered", "This approval request has another answer already.");
      }
    }
    return {
      role: "user",
      contents: answers.map((answer) => ({ type: "function_approval_response", ...answer })),
    };
  }

  /** Deletes a chat. When it fails half-way, a repetition removes the rest. */
  async remove(owner: string, id: string): Promise<void> {
    // The session first: a run that is under way finds it gone and takes back what it stored.
    const wasThere = await this.#parts.sessions.delete(id, { owner });
    await this.#parts.history.conversation(new AgentSession({ sessionId: id, owner })).clear();
    if (!wasThere) {
      throw noSuchChat();
    }
  }

  /** Begins a run when the chat is free. */
  async #start(owner: string, id: string, input: MessageInput, { runId, signal }: RunOptions): Promise<ChatRun> {
    const { agent, turns } = this.#parts;
    const turn = await turns.take(owner, id, signal);
    let modelCalls = 0;
    const counting = chatMiddleware((_, next) => {
      modelCalls += 1;
      return next();
    });
    const stream = agent.runStream(input, {
      session: turn.session,
      owner,
      runId,
      signal: turn.signal,
      middleware: [counting],
    });
    return { stream, end: () => this.#end(turn, modelCalls) };
  }

  /**
   * Ends a turn, however its run ended.
   *
   * @throws HttpProblem 404 when the chat was deleted meanwhile: what the run stored is then removed too.
   */
  async #end({ session, end }: Turn, modelCalls: number): Promise<void> {
    try {
      await end((stored) => {
        const chat = chatState(stored);
        const updatedAt = new Date().toISOString();
        stored.state["chat"] = { ...chat, updatedAt, modelCalls: chat.modelCalls + modelCalls };
      });
    } catch (error) {
      if (isAgentFrameworkError(error, "not_found")) {
        await this.#parts.history.conversation(session).clear();
        throw noSuchChat();
      }
      // What the run came to stands; the turn ends by itself.
      this.#parts.onFailure("the chat's session could not be updated", error);
    }
  }
}
