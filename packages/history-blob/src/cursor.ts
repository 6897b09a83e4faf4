import { configurationError } from "@agentfw/core";
import type { Place } from "./older.ts";

/** A cursor of `read`: what is before a place, and before the last `behind` records in front of it. */
export interface Cursor extends Place {
  readonly life: string;
  readonly behind: number;
}

const CURSOR = /^([\w-]{16})\.(\d{1,9})\.(\d{1,15})\.(\d{1,9})$/;

/** A cursor as callers get it. */
export function encodeCursor({ life, segment, end, behind }: Cursor): string {
  return `${life}.${segment}.${end}.${behind}`;
}

/** Takes a cursor apart. @throws `configuration` for what was never one */
export function parseCursor(text: string): Cursor {
  const [, life, segment, end, behind] = CURSOR.exec(text) ?? [];
  if (life === undefined || Number(end) < 2) {
    throw noCursor();
  }
  return { life, segment: Number(segment), end: Number(end), behind: Number(behind) };
}

/** What was given as a cursor names no place in the conversation. */
export function noCursor(): Error {
  return configurationError("before", "must be a cursor that read gave");
}
