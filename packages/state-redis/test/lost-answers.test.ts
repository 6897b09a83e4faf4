import { startFaultProxy } from "@agentfw/test-servers";
import { Redis } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import { RedisStateStore } from "../src/index.ts";
import { type FaultyStore, openFaulty, withLostAnswer } from "./support/faults.ts";
import { openStore, rejection } from "./support/redis.ts";
import { type Connected, nodePort } from "./support/stores.ts";

const [FIRST, OURS, THEIRS] = ['{"by":"first"}', '{"by":"us"}', '{"by":"them"}'];

/** Opens a store with the item `a`, whose connection is made. */
async function openWithItem(connected: Connected): Promise<FaultyStore & { readonly etag: string }> {
  const faulty = await openFaulty(connected);
  const { etag } = await faulty.store.create("a", FIRST);
  return { ...faulty, etag };
}

async function textOf({ direct }: FaultyStore): Promise<string | undefined> {
  return (await direct.get("a"))?.text;
}

const isOurs = (faulty: FaultyStore) => async () => (await textOf(faulty)) === OURS;

const isGone = (faulty: FaultyStore) => async () => (await textOf(faulty)) === undefined;

const EVERYWHERE: readonly Connected[] = ["url", "ioredis 6", "ioredis 5", "cluster"];

/** Clients that were passed in send by themselves again what was under way. */
const RESENDING: readonly Connected[] = ["ioredis 6", "ioredis 5", "cluster"];

describe.each(EVERYWHERE)("set under an etag whose answer is lost (%s)", (connected) => {
  test("is not carried out twice, and succeeds", async () => {
    const faulty = await openWithItem(connected);
    const call = () => faulty.store.set("a", OURS, { ifMatch: faulty.etag });
    const { etag } = await withLostAnswer(faulty, call, isOurs(faulty));
    expect(await faulty.direct.get("a")).toMatchObject({ text: OURS, etag });
    await faulty.store.set("a", THEIRS, { ifMatch: etag });
  });

  test("is no conflict when somebody wrote on top of it meanwhile", async () => {
    const faulty = await openWithItem(connected);
    const call = () => faulty.store.set("a", OURS, { ifMatch: faulty.etag });
    let theirs = "";
    const { etag } = await withLostAnswer(faulty, call, isOurs(faulty), async () => {
      for (let write = 0; write < 20; write += 1) {
        theirs = (await faulty.direct.set("a", THEIRS, { ifMatch: "*" })).etag;
      }
    });
    expect(await faulty.direct.get("a")).toMatchObject({ text: THEIRS, etag: theirs });
    expect(await rejection(faulty.store.set("a", OURS, { ifMatch: etag }))).toMatchObject({ code: "conflict" });
  });

  test("is of unknown outcome, and no conflict, when that cannot be told any more", async () => {
    const over = await openWithItem(connected);
    const manyWrites = async () => {
      for (let write = 0; write < 66; write += 1) {
        await over.direct.set("a", THEIRS);
      }
    };
    const first = withLostAnswer(
      over,
      () => over.store.set("a", OURS, { ifMatch: over.etag }),
      isOurs(over),
      manyWrites,
    );
    expect(await rejection(first)).toMatchObject({ code: "outcome_unknown", retryable: true });
    expect(await textOf(over)).toBe(THEIRS);

    const gone = await openWithItem(connected);
    const remove = () => gone.direct.delete("a");
    const second = withLostAnswer(gone, () => gone.store.set("a", OURS, { ifMatch: gone.etag }), isOurs(gone), remove);
    expect(await rejection(second)).toMatchObject({ code: "outcome_unknown" });
    expect(await textOf(gone)).toBeUndefined();
  });
});

describe("other writes whose answer is lost (url)", () => {
  const unknown = { code: "outcome_unknown", retryable: true };

  test("are not sent again: set brings nothing back", async () => {
    const faulty = await openWithItem("url");
    const remove = () => faulty.direct.delete("a");
    const call = withLostAnswer(faulty, () => faulty.store.set("a", OURS), isOurs(faulty), remove);
    expect(await rejection(call)).toMatchObject(unknown);
    expect(await textOf(faulty)).toBeUndefined();
  });

  test("are not sent again: create makes nothing twice", async () => {
    const faulty = await openWithItem("url");
    await faulty.store.delete("a");
    const remove = () => faulty.direct.delete("a");
    const call = withLostAnswer(faulty, () => faulty.store.create("a", OURS), isOurs(faulty), remove);
    expect(await rejection(call)).toMatchObject(unknown);
    expect(await textOf(faulty)).toBeUndefined();
  });

  test("are not sent again: delete takes away nothing new", async () => {
    const faulty = await openWithItem("url");
    const create = () => faulty.direct.create("a", THEIRS);
    const call = withLostAnswer(faulty, () => faulty.store.delete("a"), isGone(faulty), create);
    expect(await rejection(call)).toMatchObject(unknown);
    expect(await textOf(faulty)).toBe(THEIRS);
  });
});

describe.each(RESENDING)("other writes that the driver sends again (%s)", (connected) => {
  test("create is no conflict with itself", async () => {
    const faulty = await openWithItem(connected);
    await faulty.store.delete("a");
    const { etag } = await withLostAnswer(faulty, () => faulty.store.create("a", OURS), isOurs(faulty));
    expect(await faulty.direct.get("a")).toMatchObject({ text: OURS, etag });
  });

  test("create is of unknown outcome when somebody else's item is there", async () => {
    const faulty = await openWithItem(connected);
    await faulty.store.delete("a");
    const call = withLostAnswer(
      faulty,
      () => faulty.store.create("a", OURS),
      isOurs(faulty),
      async () => {
        await faulty.direct.delete("a");
        await faulty.direct.create("a", THEIRS);
      },
    );
    expect(await rejection(call)).toMatchObject({ code: "outcome_unknown" });
    expect(await textOf(faulty)).toBe(THEIRS);
  });

  test("set does not undo what somebody wrote on top of it", async () => {
    const faulty = await openWithItem(connected);
    const write = () => faulty.direct.set("a", THEIRS);
    await withLostAnswer(faulty, () => faulty.store.set("a", OURS), isOurs(faulty), write);
    expect(await textOf(faulty)).toBe(THEIRS);
  });

  test("delete is of unknown outcome rather than false", async () => {
    const faulty = await openWithItem(connected);
    const call = withLostAnswer(faulty, () => faulty.store.delete("a"), isGone(faulty));
    expect(await rejection(call)).toMatchObject({ code: "outcome_unknown" });
    expect(await faulty.store.delete("a")).toBe(false);
  });
});

describe("reads whose answer is lost", () => {
  test("are made again", async () => {
    const faulty = await openWithItem("url");
    for (const call of [() => faulty.store.get("a"), () => faulty.store.listKeys()]) {
      faulty.proxies[0]?.cutNextReply(0);
      expect(JSON.stringify(await call())).toContain(faulty.etag);
      faulty.proxies[0]?.cutNextReply(5);
      expect(JSON.stringify(await call())).toContain(faulty.etag);
    }
  });
});

describe("a write whose answer is lost and that is refused when it is asked again", () => {
  test.each(["url", "client"])("is of unknown outcome, because it was carried out (%s)", async (way) => {
    const { client, store: direct, keyPrefix } = openStore();
    const user = keyPrefix.replace(":", "-");
    const rules = (...more: readonly string[]) => client.call("acl", ["setuser", user, ...more]);
    await rules("on", ">secret", "~*", "+@all");
    const proxy = await startFaultProxy({ port: nodePort() });
    const url = `redis://${user}:secret@127.0.0.1:${proxy.port}`;
    // A client that was passed in sends again by itself, and shows only what the server said then.
    const passedIn = new Redis(url, { lazyConnect: true }).on("error", () => {});
    const store = new RedisStateStore(way === "url" ? { url } : { client: passedIn }, { keyPrefix });
    onTestFinished(async () => {
      await store.close();
      passedIn.disconnect();
      await proxy.close();
      await client.call("acl", ["deluser", user]);
    });
    const { etag } = await store.create("a", FIRST);
    const faulty = { store, direct, proxies: [proxy] };
    const call = () => store.set("a", OURS, { ifMatch: etag });
    const refused = withLostAnswer(faulty, call, isOurs(faulty), () => rules("-evalsha"));
    expect(await rejection(refused)).toMatchObject({ code: "outcome_unknown", retryable: true });
  });
});
