import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { OwnConnection } from "../../src/backend.ts";

/** A server on this machine, and a connection of ours to it. */
async function open(timeoutMs = 10_000) {
  const accepted: Socket[] = [];
  const server = createServer((socket) => {
    accepted.push(socket.on("error", () => {}).resume());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const state = {
    made: 0,
    greeted: async (_: Socket): Promise<unknown> => undefined,
    quit: (socket: Socket): Promise<unknown> => once(socket.end(), "close"),
  };
  const connection = new OwnConnection<Socket>(
    {
      async connect(onEnd, signal) {
        state.made += 1;
        const socket = connect(port, "127.0.0.1").on("close", onEnd);
        signal.addEventListener("abort", () => socket.destroy());
        try {
          await once(socket, "connect");
          await state.greeted(socket);
        } catch (error) {
          socket.destroy();
          throw error;
        }
        return socket;
      },
      quit: (socket) => state.quit(socket),
      cut: (socket) => void socket.destroy(),
    },
    timeoutMs,
  );
  onTestFinished(async () => {
    await connection.close();
    for (const socket of accepted) {
      socket.destroy();
    }
    await new Promise((resolve) => server.close(resolve));
  });
  return { connection, accepted, state };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) {
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

describe("A connection of one's own", () => {
  it("is made once for all who wait, and is ready then", async () => {
    const { connection, state } = await open();
    expect([connection.ready, connection.retries]).toEqual([undefined, false]);
    const [first, second] = await Promise.all([connection.open(), connection.open()]);
    expect(first).toBe(second);
    expect(connection.ready).toBe(first);
    expect([state.made, connection.retries]).toEqual([1, true]);
  });

  it("is made anew when it ended, and calls are tried again meanwhile", async () => {
    const { connection, accepted } = await open();
    const first = await connection.open();
    await until(() => accepted.length === 1);
    accepted[0]?.destroy();
    await until(() => connection.ready === undefined);
    expect(connection.retries).toBe(true);
    expect(await connection.open()).not.toBe(first);
  });

  it("that cannot be made says why, and the next call tries again", async () => {
    const { connection, state } = await open();
    const refused = new Error("wrong password");
    state.greeted = () => Promise.reject(refused);
    await expect(connection.open()).rejects.toBe(refused);
    expect([connection.ready, connection.retries]).toEqual([undefined, false]);
    state.greeted = async () => undefined;
    await connection.open();
    expect(state.made).toBe(2);
  });

  it("that is not there in time is given up with all that was made for it", async () => {
    const { connection, state } = await open(200);
    const made: Socket[] = [];
    state.greeted = (socket) => {
      made.push(socket);
      return new Promise(() => {});
    };
    await expect(connection.open()).rejects.toMatchObject({
      failure: { code: "unavailable", reason: "no answer within 200 ms" },
    });
    expect(made.map(({ destroyed }) => destroyed)).toEqual([true]);
  });

  it("that ends as soon as it is made is none", async () => {
    const { connection, state } = await open();
    state.greeted = (socket) => once(socket.destroy(), "close");
    await expect(connection.open()).rejects.toMatchObject({ failure: { code: "unavailable" } });
    expect(connection.ready).toBeUndefined();
  });

  it("is dropped at once, and made anew", async () => {
    const { connection } = await open();
    const first = await connection.open();
    connection.drop();
    expect([first.destroyed, connection.ready]).toEqual([true, undefined]);
    expect(await connection.open()).not.toBe(first);
  });

  it("is closed for good, also while it is being made", async () => {
    const { connection, state } = await open();
    const opening = connection.open();
    await connection.close();
    expect((await opening).destroyed).toBe(true);
    expect([connection.ready, connection.retries]).toEqual([undefined, false]);
    await expect(connection.open()).rejects.toMatchObject({ failure: { reason: "the store was closed" } });
    expect(state.made).toBe(1);
  });

  it("that does not end in time is cut", async () => {
    const { connection, state } = await open(50);
    const client = await connection.open();
    state.quit = () => new Promise(() => {});
    await connection.close();
    expect(client.destroyed).toBe(true);
  });
});
