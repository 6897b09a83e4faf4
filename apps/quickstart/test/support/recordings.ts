/** Recorded conversations made up for these tests: every oddity that recordings were seen to have, and some more. */

type Members = Record<string, unknown>;

export const call = (id: string, name: string, text: unknown = "{}", more: Members = {}): Members => ({
  id,
  type: "function",
  function: { name, arguments: text },
  ...more,
});
export const result = (id: string, content: unknown, more: Members = {}): Members => ({
  role: "tool",
  tool_call_id: id,
  content,
  ...more,
});
export const user = (content: unknown, more: Members = {}): Members => ({ role: "user", content, ...more });
export const system = (content: unknown): Members => ({ role: "system", content });
export const answer = (content: unknown, calls?: readonly unknown[], more: Members = {}): Members => ({
  role: "assistant",
  content,
  ...(calls === undefined ? {} : { tool_calls: calls }),
  ...more,
});

const ordinary: Record<string, Members[]> = {
  plain: [system("Be kind."), user("Hi"), answer("Hello!"), user("Weather?"), answer("Sunny.")],
  "one call after another": [
    user("u"),
    answer(null, [call("a", "x", '{"n": 1}')]),
    result("a", "1", { name: "x" }),
    answer("and", [call("b", "y", '{ "n":2 }')]),
    result("b", "2"),
    answer("done"),
  ],
  "several calls at once": [
    user("u"),
    answer("", [call("a", "x"), call("b", "y")]),
    result("a", "1"),
    result("b", "2"),
    answer("d"),
  ],
  "a call id used again": [
    user("u"),
    answer(null, [call("a", "x")]),
    result("a", "1"),
    answer(null, [call("a", "x")]),
    result("a", "2"),
    answer("d"),
  ],
  "a call id twice in one message": [
    user("u"),
    answer(null, [call("a", "x"), call("a", "x", '{"n":2}')]),
    result("a", "1"),
    result("a", "2"),
    answer("d"),
    user("v"),
    answer("w"),
  ],
  "many rounds": [
    user("go"),
    ...Array.from({ length: 45 }, (_, n) => [answer(null, [call(`c${n}`, "x")]), result(`c${n}`, `${n}`)]).flat(),
    answer("z"),
  ],
  "many calls": [
    user("go"),
    answer(
      null,
      Array.from({ length: 60 }, (_, n) => call(`c${n}`, `f${n}`)),
    ),
    ...Array.from({ length: 60 }, (_, n) => result(`c${n}`, `${n}`)),
    answer("z"),
  ],
};

const turns: Record<string, Members[]> = {
  "users in a row": [
    user("1"),
    user("2"),
    user("3"),
    answer("x"),
    user("yes"),
    answer("ok"),
    user("yes"),
    answer("ok"),
  ],
  "answers in a row": [
    user("1"),
    answer("a"),
    answer("b"),
    answer(null, [call("c", "f")]),
    result("c", "r"),
    answer("e"),
    answer("g"),
  ],
  "begins with an answer": [answer("Hello!"), user("hi"), answer("yes")],
  "begins with a call": [answer(null, [call("a", "x")]), result("a", "r"), answer("z")],
  "ends with a user": [user("1"), answer("2"), user("3")],
  "ends with results": [user("1"), answer(null, [call("a", "x")]), result("a", "r")],
  "system in the middle": [system("a"), user("b"), system("c"), answer("d"), system("e"), user("f"), answer("g")],
  developer: [
    { role: "developer", content: "be good", name: "dev" },
    user("a"),
    answer("b"),
    { role: "developer", content: [{ type: "text", text: "more" }] },
    answer("c"),
  ],
  "no messages": [],
  "a system message alone": [system("x")],
};

const irregular: Record<string, Members[]> = {
  "results in another order": [
    user("u"),
    answer(null, [call("a", "x"), call("b", "y")]),
    result("b", "2"),
    result("a", "1"),
    answer("d"),
    user("v"),
    answer("w"),
  ],
  "ends with open calls": [user("1"), answer(null, [call("a", "x"), call("b", "x")])],
  "ends with a half of the results": [user("1"), answer(null, [call("a", "x"), call("b", "x")]), result("a", "r")],
  "an open call in the middle": [
    user("1"),
    answer(null, [call("a", "x"), call("b", "x")]),
    result("a", "r"),
    user("never mind"),
    answer("ok"),
    user("x"),
    answer(null, [call("q", "x")]),
    result("q", "2"),
    answer("z"),
  ],
  "a late result": [
    user("1"),
    answer(null, [call("a", "x"), call("b", "x")]),
    result("a", "r"),
    user("wait"),
    answer("I wait"),
    result("b", "late"),
    answer("fin"),
    user("x"),
    answer("y"),
  ],
  "results without a call": [
    result("z", "r"),
    user("1"),
    result("no", "r"),
    answer("x"),
    result("no2", "r"),
    user("y"),
    answer("z"),
  ],
  "two results of one call": [
    user("1"),
    answer(null, [call("a", "x")]),
    result("a", "r"),
    result("a", "again"),
    answer("x"),
  ],
  "ids that look alike": [
    user("u"),
    answer(null, [call("a", "x"), call("a", "y"), call("a#1", "z")]),
    result("a", "1"),
    result("a", "2"),
    result("a#1", "3"),
    answer("d"),
    user("m"),
    answer("n"),
  ],
  "an open call id used again": [
    user("1"),
    answer(null, [call("a", "x")]),
    user("2"),
    answer(null, [call("a", "x")]),
    result("a", "r"),
    answer("x"),
    result("a", "2"),
    answer("y"),
    user("z"),
    answer("zz"),
  ],
  "a message between call and result": [
    user("1"),
    answer(null, [call("a", "x")]),
    system("hm"),
    result("a", "r"),
    answer("x"),
  ],
};

const contents: Record<string, Members[]> = {
  "nothing in many ways": [
    ...[null, "", "  ", [], [{ type: "text", text: "" }]].flatMap((content) => [user(content), answer(content)]),
    { role: "user" },
    { role: "assistant" },
    { role: "assistant", tool_calls: [call("z", "f")] },
    { role: "tool", tool_call_id: "z" },
    answer(" \n", [call("y", "f")]),
    result("y", null),
    answer("", []),
    answer("e", undefined, { tool_calls: null }),
  ],
  parts: [
    user([
      { type: "text", text: "one" },
      { type: "text", text: "two", cache_control: { type: "ephemeral" } },
      { type: "image_url", image_url: { url: "https://example.org/a.png", detail: "low" } },
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
      { type: "image_url", image_url: "short" },
      { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
      "bare",
      5,
      null,
    ]),
    answer([
      { type: "text", text: "a" },
      { type: "text", text: "b" },
      { type: "refusal", refusal: "no" },
    ]),
  ],
  arguments: [
    user("1"),
    answer(null, [
      call("a", "x", "{not json"),
      call("b", "x", ""),
      call("c", "x", "[1]"),
      call("d", "x", "null"),
      call("e", "x", { b: 1 }),
      call("f", "x", null),
      { id: "g", function: { name: "x", strict: true }, index: 3 },
    ]),
    ...["a", "b", "c", "d", "e", "f", "g"].map((id) => result(id, id)),
    answer("y"),
  ],
  "results of many kinds": [
    user("1"),
    answer(null, [call("a", "x"), call("b", "x"), call("c", "x"), call("d", "x")]),
    result("a", [{ type: "text", text: "p" }], { name: "x" }),
    result("b", { k: [1, null] }),
    result("c", 5, { extra: { deep: true } }),
    result("d", "", { name: "other", is_error: true }),
    answer("z"),
  ],
  "tools with other names": [
    user("1"),
    answer(null, [call("a", "server.tool"), call("b", "__proto__"), call("", "constructor")]),
    result("a", "1"),
    result("b", "2"),
    result("", "3"),
    answer("z"),
    user("q"),
    answer(null, [call("a", ""), call("a", "")]),
    result("a", "1"),
    result("a", "2"),
    answer("r"),
  ],
  "calls of other kinds": [
    user("1"),
    answer(null, [{ id: "a", type: "custom", custom: { name: "code", input: "1" } }]),
    result("a", "out"),
    answer("t", [null, 5, {}, { id: 5 }, { id: "k", function: null }]),
    answer("z"),
  ],
  names: [
    user("a", { name: "Ada" }),
    answer("b", undefined, { name: "Bot" }),
    user("c", { name: 5 }),
    user("d", { name: "" }),
    answer("e", undefined, { name: null }),
  ],
  refusals: [
    user("a"),
    answer(null, undefined, { refusal: "I cannot" }),
    user("b"),
    answer("c", undefined, { refusal: null, annotations: [] }),
    answer("d", undefined, { refusal: "" }),
  ],
  "other members": [
    user("a", {
      recording: { members: { x: 1 } },
      additionalProperties: { recording: 1 },
      messageId: "m",
      attribution: { sourceId: "x" },
      createdAt: 5,
      contents: [1],
    }),
    answer("b", undefined, {
      reasoning_content: "hm",
      deep: { a: [1, { b: null }], "": "" },
      float: 0.1,
      big: 1e300,
      id: 1,
    }),
    JSON.parse(
      '{"role":"user","content":"x","__proto__":{"a":1},"constructor":{"prototype":1},"toString":2,"toJSON":3}',
    ),
  ],
  texts: [
    user("👩‍👩‍👧‍👦 \u0000 \ud800 lone \udfff \u2028 \u0085 \u001b[31m \r\n\t\v e\u0301 é"),
    answer("\ud83d"),
    user("\ufeffmark"),
    answer(null, [call("a\u0000\ud800", "x", '{"a":"\ud800"}')]),
    result("a\u0000\ud800", "r\ud800\u0000"),
    answer("\0"),
  ],
  "big texts": [
    user("x".repeat(1_000_000)),
    answer(null, [call("a", "x", JSON.stringify({ t: "👍".repeat(300_000) }))]),
    result("a", "z".repeat(1_000_000)),
    answer("d"),
  ],
};

/** Every conversation of which a model is given exactly what was recorded. */
export const regular: Readonly<Record<string, readonly Members[]>> = { ...ordinary, ...turns };

export const all: Readonly<Record<string, readonly Members[]>> = { ...regular, ...irregular, ...contents };

/** Conversations as lines of a file. */
export function linesOf(conversations: Readonly<Record<string, readonly unknown[]>>): string[] {
  return Object.entries(conversations).map(([id, messages]) => JSON.stringify({ id, messages }));
}
