import { configurationError } from "@agentfw/core";

/** Right before this record: its turn, and its place in it from 0. */
export interface Edge {
  readonly turn: number;
  readonly index: number;
}

/** An edge in one life of a conversation. */
export interface LifeEdge extends Edge {
  readonly life: string;
}

/** The cursor of the page before an edge. */
export function encodeEdge({ life, turn, index }: LifeEdge): string {
  return `${life}.${turn}.${index}`;
}

/** @throws `configuration` for what is no such cursor */
export function parseEdge(cursor: string): LifeEdge {
  const [, life, turn, index] = /^([\w-]{16})\.([1-9]\d{0,8})\.(\d{1,9})$/.exec(cursor) ?? [];
  if (life === undefined) {
    throw configurationError("before", "must come from an earlier page");
  }
  return { life, turn: Number(turn), index: Number(index) };
}

/** The cursor of the next page of conversations, around the state store's own. */
export function encodeListCursor(cursor: string): string {
  return `p1.${Buffer.from(cursor, "utf8").toString("base64url")}`;
}

/** The state store's cursor. @throws `configuration` for what is no cursor of a list */
export function parseListCursor(cursor: string): string {
  const [, encoded] = /^p1\.([\w-]+)$/.exec(cursor) ?? [];
  if (encoded === undefined) {
    throw configurationError("cursor", "must come from an earlier page");
  }
  return Buffer.from(encoded, "base64url").toString("utf8");
}
