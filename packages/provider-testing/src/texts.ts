/** Texts that have broken stores: shared by the contracts of all ports. */

const LONG = "x".repeat(255);

/** Names of sessions, keys and ids, each different from each other as a text. */
export const HOSTILE_NAMES: readonly string[] = [
  "a",
  "A",
  "a:b",
  "a/b",
  "a_b",
  "a|b",
  "a b",
  "a%3Ab",
  "a\\b",
  "{x}",
  "{}",
  "}{",
  "..",
  ".",
  "../a",
  "*",
  "a*",
  "?",
  "[a]",
  "%",
  "_",
  "null",
  "undefined",
  "default",
  "__proto__",
  "constructor",
  "'; DROP TABLE records; --",
  "$(id)",
  "NUL",
  "com1",
  "a.",
  " a",
  "a ",
  "é",
  "e\u0301",
  "ß",
  "SS",
  "ı",
  "😀",
  "\u2028",
  "a\tb",
  "a\nb",
  "a\u0000b",
  "\ud83d",
  "\ude00",
  "\ufffd",
  `${LONG}-${"1".repeat(344)}`,
  `${LONG}-${"2".repeat(344)}`,
];

/**
 * True for a name that a store may refuse instead of encoding it: with lone surrogates or control characters, or longer
 * than 128 characters. Everything else must be stored.
 */
export function mayBeRefused(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is asked about.
  return !name.isWellFormed() || /[\u0000-\u001f]/.test(name) || name.length > 128;
}

/** Cursors that no store gave. Whoever takes one for another's, or for none, gives pages that were not asked for. */
export const INVENTED_CURSORS: readonly string[] = ["no such cursor", "-1", "{}", "\u0000"];

/** JSON texts on one line that must come back byte for byte. */
export const JSON_TEXTS: readonly string[] = [
  '{"nul":"\\u0000","bell":"\\u0007"}',
  '{"high":"\\ud83d","low":"\\ude00","swapped":"\\ude00\\ud83d"}',
  '{"emoji":"😀 👩‍👩‍👧‍👦","escaped":"\\ud83d\\ude00"}',
  '{"id":12345678901234567890,"one":1.0,"big":1e400,"small":-0.0,"digits":0.1000000000000000055}',
  '{"lines":"\u2028\u2029","tab":"\\t","break":"\\r\\n"}',
  '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
  '{"b":1,"a":2,"a":3}',
  '{"slash":"\\/","quote":"\\"","back":"\\\\","percent":"%s %d %00"}',
  '{"bom":"\ufeff","nfc":"é","nfd":"e\u0301","replacement":"\ufffd"}',
  '{"empty":"","list":[],"object":{},"nothing":null,"spaced" :  [ 1 , 2 ]}',
];

/** JSON texts on one line that are no objects. */
export const JSON_VALUES: readonly string[] = ["null", "true", "0", '"text"', "[]", '[{"a":1}]', ' {"a":1} '];

/** A JSON object of exactly `bytes` UTF-8 bytes, far fewer UTF-16 units than that. */
export function jsonOfSize(bytes: number): string {
  const [head, tail] = ['{"text":"', '"}'];
  const room = bytes - head.length - tail.length;
  // Three bytes a unit: a limit that counts units instead of bytes lets three times too much through.
  return `${head}${"あ".repeat(Math.floor(room / 3))}${"a".repeat(room % 3)}${tail}`;
}
