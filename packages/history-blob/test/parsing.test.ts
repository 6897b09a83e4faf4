import { expect, test } from "vitest";
import { encodeSeal, encodeTurn } from "../src/line-format.ts";
import { type Piece, parse } from "../src/parsing.ts";

const INFO = { segment: 0, life: "abcdefghijklmnop", first: 0, before: 0, base: 0 };

/** All of a segment. */
function segment(bytes: Buffer, blocks = 1): Piece {
  return { info: INFO, start: 0, bytes, end: { etag: '"1"', size: bytes.length, blocks } };
}

const records = [{ id: "a", data: "1" }];
const turn = (number: number, from: number, tear = "") =>
  Buffer.concat(encodeTurn({ turn: number, write: "one" }, records, from, tear));

test("a segment is closed by its seal, and by as many blocks as the service takes", () => {
  expect(parse(segment(turn(1, 0))).last.seal).toBeUndefined();
  expect(parse(segment(Buffer.concat([turn(1, 0), encodeSeal("cleared", "")]))).last.seal).toBe("cleared");
  // There is no room for a seal; whoever knows the segment must look for the next one all the same.
  expect(parse(segment(turn(1, 0), 50_000)).last.seal).toBe("next");
});

test("a line without its line feed gets it with the next block", () => {
  const torn = Buffer.from("what someone else wrote");
  const { entries, last } = parse(segment(torn));
  expect(entries).toEqual([{ start: 0, end: torn.length, turn: undefined }]);
  expect(last.tear).toBe("\n");
  const mended = parse(segment(Buffer.concat([torn, turn(2, torn.length + 1, last.tear)])));
  expect(mended.entries.map((entry) => entry.turn?.turn)).toEqual([undefined, 2]);
  expect(mended.last).toMatchObject({ tear: "", anchor: torn.length + 1 });
});

test("parts are a turn when all of them are there, in their order and from where they say", () => {
  const large = [{ id: "large", data: JSON.stringify("é".repeat(3_000_000)) }];
  const blocks = encodeTurn({ turn: 1, write: "one" }, large, 0, "");
  expect(blocks.length).toBeGreaterThan(1);
  const [first = Buffer.alloc(0), ...rest] = blocks;
  const whole = parse(segment(Buffer.concat(blocks)));
  expect(whole.entries).toHaveLength(1);
  expect(whole.entries[0]?.turn?.records[0]?.data.toString()).toBe(large[0]?.data);
  const unfinished = parse(segment(first));
  expect(unfinished).toMatchObject({ entries: [], last: { pending: "one", anchor: 0, settled: 0 } });
  // A late part, behind a turn that passed over the run.
  const late = parse(segment(Buffer.concat([first, turn(1, first.length), ...rest])));
  expect(late.entries.map((entry) => entry.turn?.records[0]?.id)).toEqual(["a"]);
  const elsewhere = parse(segment(Buffer.concat([turn(1, 0), ...blocks])));
  expect(elsewhere.entries.map((entry) => entry.turn?.records[0]?.id)).toEqual(["a"]);
});
