import type { StateStore } from "@agentfw/core";
import { prose } from "./conversation.ts";
import { BenchmarkError } from "./errors.ts";
import type { Operation } from "./measurement.ts";
import { seededRandom } from "./random.ts";

/** How long the text of an item is, about: a session with some state. */
export const ITEM_CHARACTERS = 2000;

/** Items that are written at once when a store is filled. */
const AT_ONCE = 50;

const NOTES = prose(ITEM_CHARACTERS, seededRandom(2));

/** The key of the item that is measured. */
export const MEASURED_KEY = "session:measured";

/** The JSON text of an item, another one for each turn. */
export function itemText(turns: number): string {
  return `{"turns":${turns},"notes":"${NOTES}"}`;
}

/** Writes the item that is measured and `others` beside it. */
export async function fillItems(others: number, write: (key: string, text: string) => Promise<unknown>): Promise<void> {
  await write(MEASURED_KEY, itemText(0));
  for (let start = 0; start < others; start += AT_ONCE) {
    const count = Math.min(AT_ONCE, others - start);
    await Promise.all(Array.from({ length: count }, (_, index) => write(`session:${start + index}`, itemText(index))));
  }
}

/** Writes the item again and again. */
export function settingItem(name: string, write: (text: string) => Promise<unknown>): Operation {
  let turns = 0;
  return {
    name,
    operation: () => {
      turns += 1;
      return write(itemText(turns));
    },
  };
}

/** Writes the item under the etag that the last write gave, so that nobody's write could be lost. */
export async function settingInStore(store: StateStore): Promise<Operation> {
  let etag = (await store.get(MEASURED_KEY))?.etag;
  return settingItem("agentfw", async (text) => {
    ({ etag } = await store.set(MEASURED_KEY, text, { ifMatch: etag }));
  });
}

/** Reads the item as it was filled in. What is read is looked at, so that no failure looks fast. */
export function gettingItem(name: string, read: () => Promise<string | null | undefined>): Operation {
  return {
    name,
    operation: async () => {
      const text = await read();
      if (text?.length !== itemText(0).length) {
        throw new BenchmarkError(`${name}: another text was read than was written`);
      }
    },
  };
}

/** Reads the item from a store. */
export function gettingFromStore(store: StateStore): Operation {
  return gettingItem("agentfw", async () => (await store.get(MEASURED_KEY))?.text);
}
