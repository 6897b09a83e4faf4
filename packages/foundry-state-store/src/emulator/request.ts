import { assertOneOf, parseObject } from "@agentfw/core/backend";
import { decodeCursor, encodeCursor } from "../data/cursor.ts";
import type { Position } from "../data/partition.ts";
import { assertPageSize, assertServiceTags } from "../input-checks.ts";
import { memberTexts } from "../json-text.ts";
import { DEFAULT_PAGE_SIZE, LIMITS } from "../limits.ts";
import { assertTaken, invalid, Refusal } from "./replies.ts";
import type { Route } from "./routes.ts";

/** A request, read whole. */
export interface EmulatorRequest {
  readonly method: string;
  readonly route: Route;
  readonly query: URLSearchParams;
  readonly body: string;
  /** A header by its name in lower case. */
  header(name: string): string | undefined;
}

/** A body's members. */
export interface Body {
  readonly members: Readonly<Record<string, unknown>>;
  /** The JSON text of a member, as it was sent. */
  textOf(name: string): string | undefined;
}

/** Reads a body that must be a JSON object. */
export function bodyOf({ body }: EmulatorRequest): Body {
  const members = parseObject(body);
  if (members === undefined) {
    throw new Refusal(400, "invalid_request", "the body must be a JSON object");
  }
  return { members, textOf: (name) => memberTexts(body).get(name) };
}

/** Where a page begins and how long it is. */
export interface PageRequest {
  readonly limit: number;
  readonly order: "asc" | "desc";
  readonly after: Position | undefined;
  readonly before: Position | undefined;
  /** True when a cursor is none that was given: there is nothing to show. */
  readonly isEmpty: boolean;
}

/** Reads what both listings take. */
export function pageRequest(
  query: URLSearchParams,
  positionOf: (id: string) => Position | undefined,
  unknownCursor: "empty" | "refuse",
): PageRequest {
  const limitText = query.get("limit") ?? String(DEFAULT_PAGE_SIZE);
  const limit = /^\d{1,9}$/.test(limitText) ? Number(limitText) : Number.NaN;
  assertTaken(() => assertPageSize(limit, "limit"));
  const order = query.get("order") ?? "desc";
  assertTaken(() => assertOneOf(order, "order", ["asc", "desc"]));
  const cursors = { after: query.get("after"), before: query.get("before") };
  if (cursors.after !== null && cursors.before !== null) {
    throw invalid("before", "does not go with after");
  }
  const read = (name: "after" | "before") => {
    const text = cursors[name];
    const position = text === null ? undefined : decodeCursor(text, positionOf);
    if (text !== null && position === undefined && unknownCursor === "refuse") {
      throw invalid(name, "must come from an earlier page");
    }
    return { position, isUnknown: text !== null && position === undefined };
  };
  const [after, before] = [read("after"), read("before")];
  return {
    limit,
    order: order === "asc" ? "asc" : "desc",
    after: after.position,
    before: before.position,
    isEmpty: after.isUnknown || before.isUnknown,
  };
}

/** The tags that a listing is to be filtered by. */
export function tagFilter(query: URLSearchParams): Record<string, string> {
  const tags = Object.fromEntries(
    [...query].filter(([name]) => name.startsWith("tags.")).map(([name, value]) => [name.slice("tags.".length), value]),
  );
  assertTaken(() => assertServiceTags(tags));
  return tags;
}

/** Tags as they come in a body; `null` is as good as none. */
export function tagsOf(value: unknown): Record<string, string> {
  if (value === undefined || value === null) {
    return {};
  }
  assertTaken(() => assertServiceTags(value));
  return Object.fromEntries(Object.entries(Object(value)).map(([name, text]) => [name, String(text)]));
}

/** The cursors of a page's items. */
export function cursorsOf(positions: readonly Position[]): (string | undefined)[] {
  const [first] = positions;
  const last = positions.at(-1);
  return first === undefined || last === undefined ? [] : [encodeCursor(first), encodeCursor(last)];
}

/** The longest body that is read. */
export const MAX_BODY_BYTES: number = LIMITS.valueBytes * 4;
