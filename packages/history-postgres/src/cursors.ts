import { configurationError } from "@agentfw/core";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Takes a cursor apart: the position of a page's oldest record. @throws `configuration` for what was never one. */
export function parseCursor(text: string): string {
  if (!/^[1-9]\d{0,17}$/.test(text)) {
    throw configurationError("before", "must be a cursor that read gave");
  }
  return text;
}

/** Refuses a cursor that was never one. @throws `configuration` */
export function assertListCursor(text: unknown): void {
  if (typeof text !== "string" || !UUID.test(text)) {
    throw configurationError("cursor", "must be a cursor that list gave");
  }
}
