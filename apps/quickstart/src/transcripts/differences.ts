import type { Json } from "@agentfw/core";
import { oneLine } from "../terminal.ts";
import { type Members, membersOf } from "./recording.ts";

const SHOWN_CHARACTERS = 60;

/** What differs between a recording and what was stored, one line for each place, in order. */
export function differences(recorded: readonly Members[], stored: readonly Members[]): string[] {
  const found: string[] = [];
  for (const [index, message] of recorded.entries()) {
    const name = `message ${index + 1} (${String(message["role"])})`;
    const other = stored[index];
    if (other === undefined) {
      found.push(`${name} is not there`);
    } else {
      compare(message, other, name, found);
    }
  }
  for (const [index, message] of stored.slice(recorded.length).entries()) {
    found.push(
      `message ${recorded.length + index + 1} (${String(message["role"])}) was not recorded: ${shown(message)}`,
    );
  }
  return found;
}

function compare(recorded: Json | undefined, stored: Json | undefined, path: string, found: string[]): void {
  if (recorded === stored) {
    return;
  }
  if (Array.isArray(recorded) && Array.isArray(stored)) {
    compareLists(recorded, stored, path, found);
    return;
  }
  const [one, other] = [membersOf(recorded), membersOf(stored)];
  if (one !== undefined && other !== undefined) {
    for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
      compare(ownMember(one, name), ownMember(other, name), `${path}.${name}`, found);
    }
    return;
  }
  if (typeof recorded === "string" && typeof stored === "string") {
    found.push(`${path} ${textDifference(recorded, stored)}`);
    return;
  }
  found.push(`${path}: recorded ${shown(recorded)}, stored ${shown(stored)}`);
}

function compareLists(recorded: readonly Json[], stored: readonly Json[], path: string, found: string[]): void {
  if (recorded.length !== stored.length) {
    found.push(`${path}: recorded ${recorded.length} entries, stored ${stored.length}`);
  }
  for (const [index, entry] of recorded.entries()) {
    if (index < stored.length) {
      compare(entry, stored[index], `${path}[${index}]`, found);
    }
  }
}

/** Members may have the names of those that every object inherits. */
function ownMember(members: Members, name: string): Json | undefined {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}

/** Where two texts part, with a little of what stands there. */
function textDifference(recorded: string, stored: string): string {
  let position = 0;
  while (recorded[position] === stored[position]) {
    position += 1;
  }
  const from = Math.max(0, position - 20);
  const cut = (text: string) => shown(text.slice(from, from + SHOWN_CHARACTERS));
  return `differs at character ${position + 1}: recorded ${cut(recorded)}, stored ${cut(stored)}`;
}

function shown(value: Json | undefined): string {
  return value === undefined ? "nothing" : oneLine(JSON.stringify(value), SHOWN_CHARACTERS + 20);
}
