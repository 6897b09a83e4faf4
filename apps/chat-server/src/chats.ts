import { randomUUID } from "node:crypto";
import { type Agent, type AgentResponse, type AgentResponseStream, chatMiddleware } from "@agentfw/agent";
import {
  AgentSession,
  type CallOptions,
  type HistoryProvider,
  isAgentFrameworkError,
  type MessageInput,
  type SessionStore,
} from "@agentfw/core";
import { HttpProblem, noSuchChat } from "./errors.ts";
import { type ChatState, type ChatView, chatState, chatView, type MessageView, messageView } from "./views.ts";

/** What {@link Chats} is made of. */
export interface ChatsParts {
  readonly agent: Agent;
  readonly history: HistoryProvider;
  readonly sessions: SessionStore;
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

  /** Runs to the end. */
  async answer(session: AgentSession, input: MessageInput, options: RunOptions): Promise<AgentResponse> {
    const { stream, ended } = this.#start(session, input, options);
    let response: AgentResponse | undefined;
    try {
      response = await stream.finalResponse();
      return response;
    } finally {
      await ended(response !== undefined);
    }
  }

  /** The pieces of the answer's text as they come, then the response, when everything is stored. */
  async *stream(
    session: AgentSession,
    input: MessageInput,
    options: RunOptions,
  ): AsyncGenerator<string | AgentResponse, void> {
    const { stream, ended } = this.#start(session, input, options);
    let response: AgentResponse | undefined;
    try {
      for await (const { text } of stream) {
        if (text !== "") {
          yield text;
        }
      }
      response = await stream.finalResponse();
    } finally {
      await ended(response !== undefined);
    }
    yield response;
  }

  /**
   * Input that answers questions of the agent.
   *
   * @throws HttpProblem 404 for a question that was never asked, 409 for one that was answered otherwise.
   */
  async approvalInput(session: AgentSession, answers: readonly ApprovalAnswer[]): Promise<MessageInput> {
    const conversation = this.#parts.history.conversation(session);
    const { messages } = await conversation.messages({ last: APPROVAL_WINDOW });
    const contents = messages.flatMap((message) => message.contents);
    for (const { id, approved } of answers) {
      if (!contents.some((content) => content.type === "function_approval_request" && content.id === id)) {
        throw new HttpProblem(404, "not_found", "There is no such approval request in this chat.");
      }
      const given = contents.find((content) => content.type === "function_approval_response" && content.id === id);
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
    await this.#clear(owner, id);
    if (!wasThere) {
      throw noSuchChat();
    }
  }

  #clear(owner: string, id: string, options: CallOptions = {}): Promise<void> {
    return this.#parts.history.conversation(new AgentSession({ sessionId: id, owner })).clear(options);
  }

  #start(
    session: AgentSession,
    input: MessageInput,
    { runId, signal }: RunOptions,
  ): { readonly stream: AgentResponseStream; readonly ended: (isAnswered: boolean) => Promise<void> } {
    let modelCalls = 0;
    const counting = chatMiddleware((_, next) => {
      modelCalls += 1;
      return next();
    });
    const { owner } = session;
    const stream = this.#parts.agent.runStream(input, { session, owner, runId, signal, middleware: [counting] });
    return {
      stream,
      ended: async (isAnswered) => {
        if (isAnswered || modelCalls > 0) {
          await this.#note(session, modelCalls);
        }
      },
    };
  }

  /**
   * Notes in the session that its chat went on: over what any other replica has noted meanwhile.
   *
   * @throws HttpProblem 404 when the chat was deleted during the run, whose turn is then removed too.
   */
  async #note({ sessionId, owner }: AgentSession, modelCalls: number): Promise<void> {
    try {
      await this.#parts.sessions.update(sessionId, { owner }, (session) => {
        const chat = chatState(session);
        const updatedAt = new Date().toISOString();
        session.state["chat"] = { ...chat, updatedAt, modelCalls: chat.modelCalls + modelCalls };
      });
    } catch (error) {
      if (isAgentFrameworkError(error, "not_found")) {
        await this.#clear(owner ?? "", sessionId);
        throw noSuchChat();
      }
      // The turn is stored, and that is what was asked for.
      this.#parts.onFailure("the chat's session could not be updated", error);
    }
  }
}
