import { describe, expect, it } from "vitest";
import {
  ServerCalls,
  type ServerEngine,
  type ServerFailure,
  ServerProblem,
  type ServerRequest,
} from "../../src/backend.ts";
import { type AgentFrameworkError, isAgentFrameworkError } from "../../src/index.ts";

/** What a driver throws here: what it means stands in it. */
class DriverError extends Error {
  readonly failure: ServerFailure;

  constructor(outcome: ServerFailure["outcome"], rest: Partial<ServerFailure> = {}) {
    super("the driver's own words");
    this.failure = { code: "unavailable", reason: "it does not go", outcome, ...rest };
  }
}

type Client = (text: string) => Promise<string>;

/** A connection whose driver does as a test says, and what became of it. */
class Line implements ServerEngine<Client> {
  readonly sent: string[] = [];
  gathered = 0;
  dropped = 0;
  closed = 0;
  opened = 0;
  interruptions = 0;
  retries = true;
  isReady = true;
  /** What happens to what is sent, one after the other; then everything is answered. */
  readonly answers: ((text: string) => Promise<string>)[] = [];
  opening: () => Promise<unknown> = async () => undefined;

  readonly connection = this;

  readonly client: Client = (text) => {
    this.sent.push(text);
    return (this.answers.shift() ?? (async () => `answer to ${text}`))(text);
  };

  get ready(): Client | undefined {
    return this.isReady ? this.client : undefined;
  }

  async open(): Promise<Client> {
    this.opened += 1;
    await this.opening();
    return this.client;
  }

  drop(): void {
    this.dropped += 1;
  }

  async close(): Promise<void> {
    this.closed += 1;
  }

  failureOf(error: unknown): ServerFailure {
    return error instanceof DriverError ? error.failure : { code: "unavailable", reason: "it refused" };
  }

  gather(): void {
    this.gathered += 1;
  }

  fail(...outcomes: readonly ServerFailure["outcome"][]): void {
    this.answers.push(...outcomes.map((outcome) => () => Promise.reject(new DriverError(outcome))));
  }
}

type Request = ServerRequest<Client, Line, string, string>;

function requestOf(text: string, rest: Partial<Request> = {}): Request {
  return {
    name: "call",
    kind: "read",
    mayRepeat: true,
    signal: undefined,
    send: (client) => client(text),
    receive: (reply, _, isRepetition) => (isRepetition ? `${reply}, again` : reply),
    ...rest,
  };
}

const WRITE = { kind: "write", mayRepeat: false } as const;
const never = () => new Promise<never>(() => {});

async function open(timeoutMs = 60_000) {
  const line = new Line();
  const calls = new ServerCalls<Client, Line>("history-example", timeoutMs, async () => line);
  await calls.run(() => requestOf("first"));
  line.sent.length = 0;
  const ask = (text: string, rest: Partial<Request> = {}) => calls.run(() => requestOf(text, rest));
  return { line, calls, ask };
}

async function refusal(call: Promise<unknown>): Promise<AgentFrameworkError> {
  const error: unknown = await call.then(
    (value) => new Error(`resolved with ${String(value)}`),
    (reason: unknown) => reason,
  );
  if (!isAgentFrameworkError(error)) {
    throw error;
  }
  return error;
}

/** Lets everything go on that waits for nothing but promises. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("A call to a server", () => {
  it("is sent before run returns, and in the order of the calls while the engine is loaded", async () => {
    const { line, ask } = await open();
    const result = ask("a");
    expect(line.sent).toEqual(["a"]);
    expect(await result).toBe("answer to a");
    const loading = new Line();
    const calls = new ServerCalls<Client, Line>("history-example", 60_000, async () => loading);
    await Promise.all(["1", "2", "3"].map((text) => calls.run(() => requestOf(text))));
    expect(loading.sent).toEqual(["1", "2", "3"]);
  });

  it("rejects with what its preparation throws, and sends nothing", async () => {
    const { line, calls } = await open();
    const error = new Error("bad input");
    const call = calls.run(() => {
      throw error;
    });
    await expect(call).rejects.toBe(error);
    expect(line.sent).toEqual([]);
  });

  it("that is refused says so with name, provider and cause, and what else the engine says", async () => {
    const { line, ask } = await open();
    const cause = new DriverError("refused", { code: "corrupt", position: "here", currentVersion: "v" });
    line.answers.push(() => Promise.reject(cause));
    expect(await refusal(ask("a", WRITE))).toMatchObject({
      code: "corrupt",
      message: "[history-example] call: it does not go",
      position: "here",
      currentVersion: "v",
      cause,
    });
    expect(line.sent).toEqual(["a"]);
  });

  it("may throw from its answer a problem that the engine noticed, or an error of the framework", async () => {
    const { ask } = await open();
    const conflict = new ServerProblem("conflict", "somebody came first", { currentVersion: "v" });
    const thrower = (error: unknown) => () => {
      throw error;
    };
    const first = await refusal(ask("a", { ...WRITE, receive: thrower(conflict) }));
    expect(first).toMatchObject({ code: "conflict", cause: conflict, currentVersion: "v" });
    expect(first.message).toBe("[history-example] call: somebody came first");
    expect(await refusal(ask("a", { receive: thrower(first) }))).toBe(first);
    expect(await refusal(ask("a", { next: thrower(first) }))).toBe(first);
  });

  it("is sent whole where the server has forgotten what it names", async () => {
    const { line, ask } = await open();
    line.fail("forgotten");
    expect(await ask("short", { sendWhole: (client) => client("whole") })).toBe("answer to whole");
    expect(line.sent).toEqual(["short", "whole"]);
    line.fail("forgotten");
    expect((await refusal(ask("short"))).code).toBe("unavailable");
  });

  it("asks for the next thing as long as the answers say so", async () => {
    const { line, ask } = await open();
    const third = requestOf("3");
    const second = requestOf("2", { next: () => third });
    expect(await ask("1", { next: (reply) => (reply === "answer to 1" ? second : undefined) })).toBe("answer to 3");
    expect(line.sent).toEqual(["1", "2", "3"]);
  });

  it("is gathered with others only while there are others", async () => {
    const { line, ask } = await open();
    await ask("alone");
    expect(line.gathered).toBe(0);
    await Promise.all([ask("a"), ask("b"), ask("c")]);
    expect(line.gathered).toBe(2);
  });

  it("of a client that gives no promise is refused", async () => {
    const { ask } = await open();
    const send: unknown = () => undefined;
    const request = Object.assign(requestOf("a"), { send });
    expect(await refusal(ask("a", { send: request.send }))).toMatchObject({ code: "configuration" });
  });
});

describe("A call whose connection ends under it", () => {
  it("is sent again when that is safe, and knows that it was", async () => {
    const { line, ask } = await open();
    line.fail("lost", "lost");
    expect(await ask("a", { kind: "write", mayRepeat: true })).toBe("answer to a, again");
    expect(line.sent).toEqual(["a", "a", "a"]);
  });

  it("is of unknown outcome when it is not, also when it is refused later", async () => {
    const { line, ask } = await open();
    line.fail("lost");
    expect(await refusal(ask("a", WRITE))).toMatchObject({
      code: "outcome_unknown",
      message: "[history-example] call: the answer was lost",
    });
    line.fail("lost", "refused");
    expect((await refusal(ask("b", { kind: "write", mayRepeat: true }))).code).toBe("outcome_unknown");
    expect(line.sent).toEqual(["a", "b", "b"]);
  });

  it("is not sent again over a client with rules of its own; a read is unavailable then", async () => {
    const { line, ask } = await open();
    line.retries = false;
    line.fail("lost", "lost");
    expect((await refusal(ask("a"))).code).toBe("unavailable");
    expect((await refusal(ask("b", { kind: "write", mayRepeat: true }))).code).toBe("outcome_unknown");
    expect(line.sent).toEqual(["a", "b"]);
  });

  it("knows that a driver may have sent it twice by itself", async () => {
    const { line, ask } = await open();
    const interrupted = (settle: () => Promise<string>) => () => {
      line.interruptions += 1;
      return settle();
    };
    line.answers.push(interrupted(async () => "b"));
    expect(await ask("a", WRITE)).toBe("b, again");
    line.answers.push(interrupted(() => Promise.reject(new DriverError("refused"))));
    expect((await refusal(ask("a", WRITE))).code).toBe("outcome_unknown");
    line.answers.push(interrupted(() => Promise.reject(new DriverError("forgotten"))));
    expect(await ask("a", { ...WRITE, sendWhole: (client) => client("whole") })).toBe("answer to whole, again");
  });

  it("of which nothing was sent is sent when there is a connection again", async () => {
    const { line, ask } = await open();
    line.fail("unsent", "unsent");
    expect(await ask("a", WRITE)).toBe("answer to a");
    line.retries = false;
    line.fail("unsent");
    expect((await refusal(ask("a", WRITE))).code).toBe("unavailable");
  });

  it("leaves a server that is the wrong one", async () => {
    const { line, ask } = await open();
    line.fail("misplaced");
    expect((await refusal(ask("a", WRITE))).code).toBe("unavailable");
    expect(line.dropped).toBe(1);
  });
});

describe("A call that waits for a connection", () => {
  it("tries again unless the server said no, or the first success is still to come", async () => {
    const { line, ask } = await open();
    line.isReady = false;
    let failures = 0;
    line.opening = async () => {
      failures += 1;
      if (failures < 3) {
        throw new DriverError(undefined);
      }
    };
    expect(await ask("a", WRITE)).toBe("answer to a");
    line.opening = () => Promise.reject(new DriverError("refused", { code: "unauthorized" }));
    expect((await refusal(ask("b", WRITE))).code).toBe("unauthorized");
    line.retries = false;
    line.opening = () => Promise.reject(new DriverError(undefined));
    expect((await refusal(ask("c", WRITE))).code).toBe("unavailable");
    expect(line.sent).toEqual(["a"]);
  });

  it("is not sent once its caller was told that it was not", async () => {
    const { line, ask } = await open(20);
    line.isReady = false;
    let finish = (_?: unknown) => {};
    line.opening = () => new Promise((resolve) => (finish = resolve));
    expect((await refusal(ask("a", WRITE))).code).toBe("timeout");
    finish();
    await turn();
    expect(line.sent).toEqual([]);
  });
});

describe("A call that takes too long", () => {
  it("is a timeout for a read, of unknown outcome for a write, and gives up a connection that says nothing", async () => {
    const { line, ask } = await open(20);
    line.answers.push(never, never);
    const [read, write] = await Promise.all([refusal(ask("a")), refusal(ask("b", WRITE))]);
    expect([read.code, read.message]).toEqual(["timeout", "[history-example] call: no answer within 20 ms"]);
    expect(write.code).toBe("outcome_unknown");
    expect(line.dropped).toBe(2);
  });

  it("keeps a connection that answers others", async () => {
    const { line, ask } = await open(200);
    line.answers.push(never);
    const late = refusal(ask("a"));
    await ask("b");
    expect((await late).code).toBe("timeout");
    expect(line.dropped).toBe(0);
  });

  it("says what its last try ran into", async () => {
    const { line, ask } = await open(50);
    line.fail(...Array.from({ length: 50 }, () => "unsent" as const));
    expect(await refusal(ask("a", WRITE))).toMatchObject({ code: "unavailable", cause: expect.any(DriverError) });
  });

  it("tells what is under way in steps that it is over", async () => {
    const { ask } = await open(20);
    let isOver = () => false;
    const call = ask("a", {
      send: (_client, _engine, open) => {
        isOver = () => open.isOver;
        return never();
      },
    });
    expect(isOver()).toBe(false);
    expect((await refusal(call)).code).toBe("timeout");
    expect(isOver()).toBe(true);
  });

  it("has a time of its own, whenever it began", async () => {
    const { line, ask } = await open(100);
    line.answers.push(never, never);
    const told: string[] = [];
    const first = refusal(ask("a")).then(() => told.push("first"));
    await new Promise((resolve) => setTimeout(resolve, 30));
    const second = refusal(ask("b")).then(() => told.push("second"));
    await first;
    expect(told).toEqual(["first"]);
    await second;
  });
});

describe("A call that is aborted", () => {
  it("rejects with the reason when nothing can have been written", async () => {
    const { line, ask } = await open();
    const controller = new AbortController();
    line.answers.push(never);
    const read = ask("a", { signal: controller.signal });
    line.isReady = false;
    line.opening = never;
    const write = ask("b", { ...WRITE, signal: controller.signal });
    controller.abort(new Error("given up"));
    await expect(read).rejects.toBe(controller.signal.reason);
    await expect(write).rejects.toBe(controller.signal.reason);
  });

  it("is of unknown outcome when it was sent and writes", async () => {
    const { line, ask } = await open();
    const controller = new AbortController();
    line.answers.push(never);
    const call = ask("a", { ...WRITE, signal: controller.signal });
    controller.abort(new Error("given up"));
    expect(await refusal(call)).toMatchObject({ code: "outcome_unknown", cause: controller.signal.reason });
  });

  it("after it has ended changes nothing, and leaves no listener behind", async () => {
    const { ask } = await open();
    const controller = new AbortController();
    let listeners = 0;
    const { signal } = controller;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    };
    expect(await ask("a", { signal })).toBe("answer to a");
    expect(listeners).toBe(0);
    controller.abort();
  });
});

describe("Calls that are closed", () => {
  it("end after those that were made before, and refuse later ones", async () => {
    const line = new Line();
    const calls = new ServerCalls<Client, Line>("history-example", 60_000, async () => line);
    const before = calls.run(() => requestOf("a"));
    const closing = calls.close();
    expect((await refusal(calls.run(() => requestOf("b")))).message).toContain("the store was closed");
    await closing;
    expect(await before).toBe("answer to a");
    expect([line.closed, line.sent]).toEqual([1, ["a"]]);
  });

  it("end also when there is no engine, which every call tells", async () => {
    const cause = new Error("no such file");
    const calls = new ServerCalls<Client, Line>("history-example", 60_000, () => Promise.reject(cause));
    expect(await refusal(calls.run(() => requestOf("a", WRITE)))).toMatchObject({ code: "unavailable", cause });
    await calls.close();
    expect((await refusal(calls.run(() => requestOf("a")))).message).toContain("closed");
  });

  it("let a call that was made before be sent again", async () => {
    const { line, calls, ask } = await open();
    line.fail("lost", "unsent");
    const call = ask("a");
    await calls.close();
    expect(await call).toBe("answer to a, again");
    expect([line.sent, line.closed]).toEqual([["a", "a", "a"], 1]);
  });

  it("ends the connection only after a call that the server wants whole", async () => {
    const { line, calls, ask } = await open();
    line.answers.push(async () => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      throw new DriverError("forgotten");
    });
    const closedWhenSent: number[] = [];
    const sendWhole: Request["sendWhole"] = (client) => {
      closedWhenSent.push(line.closed);
      return client("whole");
    };
    const call = ask("short", { ...WRITE, sendWhole });
    await Promise.all([call, calls.close(), calls.close()]);
    expect([closedWhenSent, line.sent]).toEqual([[0], ["short", "whole"]]);
  });

  it("leave the connection of others alone when they are late while they wait to be sent again", async () => {
    const { line, ask } = await open(80);
    line.fail("lost");
    line.isReady = false;
    let isFirst = true;
    line.opening = () => {
      const opened = isFirst ? Promise.resolve() : never();
      isFirst = false;
      return opened;
    };
    expect(await refusal(ask("a", { kind: "write" }))).toMatchObject({ code: "outcome_unknown" });
    expect(line.dropped).toBe(0);
  });
});
