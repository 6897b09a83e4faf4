import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import {
  chatClientContract,
  contextProviderContract,
  fileStoreContract,
  historyStoreContract,
  stateStoreContract,
} from "../src/index.ts";

const CLAUSES = [
  ...historyStoreContract,
  ...stateStoreContract,
  ...fileStoreContract,
  ...contextProviderContract,
  ...chatClientContract,
];

/** `H06`, `H94 upcoming`, `H12 withdrawn`: every id that was ever given away. Written by hand, so that a change is seen. */
async function givenAway(): Promise<string[]> {
  const text = await readFile(new URL("clause-ids.txt", import.meta.url), "utf8");
  return text.trim().split("\n");
}

test("every clause has an id that was noted, and says whether it is required", async () => {
  const noted = await givenAway();
  const missing = CLAUSES.map(({ id, upcoming }) => (upcoming ? `${id} upcoming` : id)).filter(
    (line) => !noted.includes(line),
  );
  expect(missing).toEqual([]);
});

test("no id that was given away has vanished or is given away again", async () => {
  const noted = await givenAway();
  const ids = new Set(CLAUSES.map(({ id }) => id));
  const idOf = (line: string) => line.split(" ")[0] ?? "";
  const vanished = noted.filter((line) => !line.endsWith(" withdrawn") && !ids.has(idOf(line)));
  const again = noted.filter((line) => line.endsWith(" withdrawn") && ids.has(idOf(line)));
  expect({ vanished, again }).toEqual({ vanished: [], again: [] });
  expect(new Set(noted.map(idOf)).size).toBe(noted.length);
});

test("no two clauses share an id", () => {
  expect(new Set(CLAUSES.map(({ id }) => id)).size).toBe(CLAUSES.length);
});
