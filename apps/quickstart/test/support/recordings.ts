import { answer, call, type Members, result, system, user } from "./messages.ts";
import { oddContents } from "./odd-contents.ts";

/** Recorded conversations made up for these tests: every oddity that recordings were seen to have, and some more. */

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
  "one of two open calls with one id answered": [
    user("1"),
    answer(null, [call("a", "x"), call("a", "x")]),
    user("2"),
    answer(null, [call("a", "x")]),
    result("a", "r"),
    user("3"),
    answer("z"),
    user("4"),
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

/** Every conversation of which a model is given exactly what was recorded. */
export const regular: Readonly<Record<string, readonly Members[]>> = { ...ordinary, ...turns };

export const all: Readonly<Record<string, readonly Members[]>> = { ...regular, ...irregular, ...oddContents };

/** Conversations as lines of a file. */
export function linesOf(conversations: Readonly<Record<string, readonly unknown[]>>): string[] {
  return Object.entries(conversations).map(([id, messages]) => JSON.stringify({ id, messages }));
}
