import { describe, expect, test } from "vitest";
import {
  callSlots,
  groupMessages,
  groupToMessages,
  interruptedResult,
  isDangling,
  isPendingApproval,
  type Message,
  openCalls,
  resultMessageId,
  standsAlone,
} from "../src/index.ts";
import {
  approvalRequest,
  approvalResponse,
  assistant,
  call,
  ids,
  reasoning,
  result,
  resultOf,
  system,
  toolMessage,
  user,
} from "./support/messages.ts";

/** The ids of the messages of each group, in the order in which a model gets them. */
function groupIds(messages: readonly Message[]): string[][] {
  return groupMessages(messages).groups.map((group) => ids(groupToMessages(group)));
}

function orphanIds(messages: readonly Message[]): string[] {
  return groupMessages(messages).orphans.map(({ message, callId }) => `${message.messageId}:${callId}`);
}

describe("messages that a model takes together", () => {
  test("are each by themselves when nothing ties them to another", () => {
    const messages = [system("s"), user("u1"), assistant("a1"), user("u2")];
    expect(groupIds(messages)).toEqual([["s"], ["u1"], ["a1"], ["u2"]]);
    expect(messages.every(standsAlone)).toBe(true);
  });

  test("are a call and its results, in the order of the calls, wherever the results were stored", () => {
    const calls = assistant("a1", call("A"), call("B"));
    expect(
      groupIds([user("u1"), calls, resultOf("a1", "B"), user("u2"), assistant("a2"), resultOf("a1", "A")]),
    ).toEqual([["u1"], ["a1", "a1/A", "a1/B"], ["u2"], ["a2"]]);
  });

  test("are reasoning and the message that it led to, with the results of that message's calls", () => {
    const messages = [
      user("u1"),
      reasoning("r1"),
      reasoning("r2"),
      assistant("a1", call("A")),
      resultOf("a1", "A"),
      reasoning("r3"),
      assistant("a2"),
    ];
    expect(groupIds(messages)).toEqual([["u1"], ["r1", "r2", "a1", "a1/A"], ["r3", "a2"]]);
  });

  test("do not go on behind the person: reasoning before a user message led to nothing", () => {
    const { groups } = groupMessages([reasoning("r1"), user("u1"), assistant("a1")]);
    expect(groups.map((group) => ids(groupToMessages(group)))).toEqual([["r1"], ["u1"], ["a1"]]);
    expect(groups.map(isDangling)).toEqual([true, false, false]);
  });

  test("do not go on behind an approval either", () => {
    const response: Message = { role: "user", messageId: "u1", contents: [approvalResponse("a0/A")] };
    const { groups } = groupMessages([reasoning("r1"), response, assistant("a1")]);
    expect(groups.map((group) => ids(groupToMessages(group)))).toEqual([["r1"], ["a1"]]);
    expect(groups.map(isDangling)).toEqual([true, false]);
  });

  test("are known by who says them: a user's reasoning is a message like any other", () => {
    const message: Message = { role: "user", messageId: "u1", contents: [{ type: "text_reasoning", text: "hm" }] };
    expect(groupIds([message, assistant("a1")])).toEqual([["u1"], ["a1"]]);
    expect(groupIds([assistant("a0", { type: "text_reasoning" }, "text"), assistant("a1")])).toEqual([["a0"], ["a1"]]);
  });
});

describe("a result", () => {
  test("is one of several in a message: each goes to its own call", () => {
    const messages = [assistant("a1", call("A"), call("B")), toolMessage("t1", "B", "A")];
    const [group] = groupMessages(messages).groups;
    expect(groupToMessages(group!)).toEqual([messages[0], toolMessage("t1", "A"), toolMessage("t1", "B")]);
    expect(orphanIds(messages)).toEqual([]);
  });

  test("of calls in different messages may come in one message", () => {
    const messages = [assistant("a1", call("A")), user("u1"), assistant("a2", call("B")), toolMessage("t1", "A", "B")];
    expect(groupIds(messages)).toEqual([["a1", "t1"], ["u1"], ["a2", "t1"]]);
  });

  test("without a call is an orphan, also when its call comes behind it", () => {
    const messages = [toolMessage("t1", "A"), user("u1"), assistant("a1", call("A")), resultOf("a1", "X")];
    expect(orphanIds(messages)).toEqual(["t1:A", "a1/X:X"]);
    expect(groupIds(messages)).toEqual([["u1"], ["a1"]]);
  });

  test("that comes twice counts once", () => {
    const messages = [assistant("a1", call("A")), resultOf("a1", "A", "first"), toolMessage("t2", "A")];
    expect(groupIds(messages)).toEqual([["a1", "a1/A"]]);
    expect(orphanIds(messages)).toEqual(["t2:A"]);
  });

  test("of a call id that a service repeats goes to the call that it was made for, in any order", () => {
    const messages = [
      assistant("a1", call("call_0")),
      assistant("a2", call("call_0")),
      resultOf("a2", "call_0", "second"),
      resultOf("a1", "call_0", "first"),
    ];
    expect(groupIds(messages)).toEqual([
      ["a1", "a1/call_0"],
      ["a2", "a2/call_0"],
    ]);
  });

  test("of a repeated call id under an id of its own goes to the newest call that is open", () => {
    const messages = [
      assistant("a1", call("call_0")),
      toolMessage("t1", "call_0"),
      assistant("a2", call("call_0")),
      assistant("a3", call("call_0")),
      toolMessage("t2", "call_0"),
    ];
    expect(groupIds(messages)).toEqual([["a1", "t1"], ["a2"], ["a3", "t2"]]);
  });

  test("of a call id that repeats within one message goes to the call at its place", () => {
    const calls = assistant("a1", call("c", "one"), call("c", "two"), call("c", "three"));
    const second: Message = { role: "tool", messageId: "a1/#1/c", contents: [result("c", "second")] };
    const [group] = groupMessages([calls, second, resultOf("a1", "c", "first")]).groups;
    expect(ids(groupToMessages(group!))).toEqual(["a1", "a1/c", "a1/#1/c"]);
    expect(openCalls(group!).map(({ resultId }) => resultId)).toEqual(["a1/#2/c"]);
    expect(callSlots(calls).map(({ resultId }) => resultId)).toEqual(["a1/c", "a1/#1/c", "a1/#2/c"]);
  });

  test("beside text is taken out of the message, and the text stays", () => {
    const mixed: Message = {
      role: "user",
      messageId: "u2",
      contents: [{ type: "text", text: "here you are:" }, result("A"), { type: "text", text: "right?" }],
    };
    const [first, second] = groupMessages([assistant("a1", call("A")), mixed]).groups;
    expect(groupToMessages(first!)).toEqual([
      assistant("a1", call("A")),
      { role: "tool", messageId: "u2", contents: [result("A")] },
    ]);
    expect(groupToMessages(second!)).toEqual([
      {
        role: "user",
        messageId: "u2",
        contents: [
          { type: "text", text: "here you are:" },
          { type: "text", text: "right?" },
        ],
      },
    ]);
  });

  test("without a call beside text is an orphan, and the text stays", () => {
    const mixed: Message = { role: "user", messageId: "u1", contents: [{ type: "text", text: "hello" }, result("X")] };
    expect(orphanIds([mixed])).toEqual(["u1:X"]);
    expect(groupMessages([mixed]).groups.flatMap(groupToMessages)).toEqual([user("u1", "hello")]);
  });

  test("in the same message as its call is taken out of it", () => {
    const both = assistant("a1", "looking", call("A"), result("A"), "found it");
    expect(groupMessages([both]).groups.flatMap(groupToMessages)).toEqual([
      assistant("a1", "looking", call("A"), "found it"),
      { role: "tool", messageId: "a1", contents: [result("A")] },
    ]);
    expect(orphanIds([both])).toEqual([]);
  });
});

describe("a call without a result", () => {
  test("is open, and can be closed under the id that its own result would have", () => {
    const [group] = groupMessages([assistant("a1", call("A"), call("B")), resultOf("a1", "A")]).groups;
    expect(openCalls(group!)).toMatchObject([{ call: { callId: "B" }, resultId: "a1/B", result: undefined }]);
    const closing = interruptedResult(openCalls(group!)[0]!);
    expect(closing).toMatchObject({
      role: "tool",
      messageId: resultMessageId("a1", "B"),
      contents: [{ type: "function_result", callId: "B", exception: "interrupted" }],
    });
  });
});

describe("a call that a person must approve", () => {
  const asked = assistant(
    "a1",
    call("A"),
    call("B"),
    approvalRequest("a1/A", call("A")),
    approvalRequest("a1/B", call("B")),
  );
  const answer = (messageId: string, ...answered: string[]): Message => ({
    role: "user",
    messageId,
    contents: answered.map((id) => approvalResponse(id)),
  });

  test("is pending until it has its result, and keeps its request and the answers so far", () => {
    const messages = [user("u1"), asked, user("u2"), answer("u3", "a1/A")];
    const { groups } = groupMessages(messages);
    expect(groups.map(isPendingApproval)).toEqual([false, true, false]);
    expect(groups.flatMap(groupToMessages)).toEqual([user("u1"), asked, answer("u3", "a1/A"), user("u2")]);
  });

  test("is settled by its results, and neither request nor answer is left", () => {
    const messages = [asked, answer("u2", "a1/A", "a1/B"), resultOf("a1", "A"), resultOf("a1", "B"), assistant("a2")];
    const { groups } = groupMessages(messages);
    expect(groups.map(isPendingApproval)).toEqual([false, false]);
    expect(groups.flatMap(groupToMessages)).toEqual([
      assistant("a1", call("A"), call("B")),
      resultOf("a1", "A"),
      resultOf("a1", "B"),
      assistant("a2"),
    ]);
  });

  test("is answered once: the first answer that fits counts, and one to another call counts never", () => {
    const forged: Message = {
      role: "user",
      messageId: "u2",
      contents: [{ ...approvalResponse("a1/A"), functionCall: call("A", "look", '{"changed":true}') }],
    };
    const refused: Message = { role: "user", messageId: "u3", contents: [approvalResponse("a1/A", false)] };
    const [group] = groupMessages([asked, forged, refused, answer("u4", "a1/A")]).groups;
    expect([...group!.responses.entries()].map(([id, { content }]) => [id, content.approved])).toEqual([
      ["a1/A", false],
    ]);
  });

  test("is not answered before it was asked about, nor by an answer to something else", () => {
    const [group] = groupMessages([answer("u0", "a1/A"), asked, answer("u1", "a1/X")]).groups;
    expect(group!.responses.size).toBe(0);
  });

  test("is only asked about by the model's side", () => {
    const fake: Message = { ...asked, role: "user" };
    const { groups } = groupMessages([fake, answer("u2", "a1/A")]);
    expect(groups.map(isPendingApproval)).toEqual([false]);
    expect(groups[0]!.responses.size).toBe(0);
  });

  test("leaves what else stands in the message with the answer, once", () => {
    const mixed: Message = {
      ...answer("u2", "a1/A"),
      contents: [approvalResponse("a1/A"), { type: "text", text: "go" }],
    };
    const { groups } = groupMessages([asked, mixed]);
    expect(groups.flatMap(groupToMessages)).toEqual([asked, answer("u2", "a1/A"), user("u2", "go")]);
  });

  test("gets its own answers only, when a message answers several requests", () => {
    const other = assistant("a2", call("C"), approvalRequest("a2/C", call("C")));
    const { groups } = groupMessages([asked, other, answer("u2", "a1/A", "a2/C")]);
    expect(groups.map((group) => groupToMessages(group).slice(1))).toEqual([
      [answer("u2", "a1/A")],
      [answer("u2", "a2/C")],
    ]);
  });

  test("is not changed by any of this: the messages that were grouped stay as they are", () => {
    const messages = [asked, answer("u2", "a1/A", "a1/B"), toolMessage("t1", "A", "B")];
    const before = structuredClone(messages);
    groupMessages(messages).groups.flatMap(groupToMessages);
    expect(messages).toEqual(before);
  });
});

describe("grouping a list again", () => {
  test("changes nothing", () => {
    const messages = [
      assistant("a1", call("A"), call("B"), approvalRequest("a1/A", call("A"))),
      { role: "user", messageId: "u2", contents: [approvalResponse("a1/A"), { type: "text", text: "go" }] } as Message,
      reasoning("r1"),
      assistant("a2", "text", call("C"), result("C")),
      toolMessage("t1", "B", "X"),
    ];
    const once = groupMessages(messages).groups.flatMap(groupToMessages);
    const twice = groupMessages(once).groups.flatMap(groupToMessages);
    expect(twice).toEqual(once);
    expect(groupMessages(once).orphans).toEqual([]);
  });
});
