import type { Json } from "@agentfw/core";
import { type Members, membersOf } from "./recording.ts";

/**
 * What a recorded message says beside its text, calls and results, kept as an additional property of the stored
 * message: members that the framework has no place for, and the form in which the content was written.
 */
export interface MessageMarks {
  readonly role?: "developer" | undefined;
  /** Absent: the content was a text. */
  readonly content?: "null" | "absent" | "parts" | undefined;
  /** The content was this text, which says nothing; the framework keeps no text that does. */
  readonly blank?: string | undefined;
  readonly members?: Members | undefined;
  /** On a message with calls whose results the function loop stored: the marks of those results, in order. */
  readonly results?: readonly MessageMarks[] | undefined;
}

/** The same for a part of a content or for a tool call. */
export interface ContentMarks {
  /** The part without what the content holds. */
  readonly part?: Members | undefined;
  /** The call without what the content holds. */
  readonly call?: Members | undefined;
  /** The arguments were JSON and not a text, or were not there. */
  readonly arguments?: "json" | "absent" | undefined;
}

const KEY = "recording";

/** Marks as additional properties; none when there is nothing to mark. */
export function marked(marks: MessageMarks | ContentMarks): { additionalProperties?: { readonly [KEY]: object } } {
  return isEmpty(marks) ? {} : { additionalProperties: { [KEY]: marks } };
}

export function isEmpty(marks: MessageMarks | ContentMarks): boolean {
  return Object.values(marks).every((value) => value === undefined);
}

/** The marks of a stored message. What was stored may have been changed since, so anything may be there. */
export function messageMarks(properties: unknown): MessageMarks {
  return readMarks(membersOf(membersOf(properties)?.[KEY]));
}

function readMarks(marks: Members | undefined): MessageMarks {
  if (marks === undefined) {
    return {};
  }
  const { role, content, blank, members, results } = marks;
  return {
    role: role === "developer" ? role : undefined,
    content: content === "null" || content === "absent" || content === "parts" ? content : undefined,
    blank: typeof blank === "string" ? blank : undefined,
    members: membersOf(members),
    results: Array.isArray(results) ? results.map((result: Json) => readMarks(membersOf(result))) : undefined,
  };
}

/** The marks of a stored content. */
export function contentMarks(content: object): ContentMarks {
  const properties = "additionalProperties" in content ? content.additionalProperties : undefined;
  const marks = membersOf(membersOf(properties)?.[KEY]);
  if (marks === undefined) {
    return {};
  }
  const { part, call, arguments: form } = marks;
  return {
    part: membersOf(part),
    call: membersOf(call),
    arguments: form === "json" || form === "absent" ? form : undefined,
  };
}
