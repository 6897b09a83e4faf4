import type { FunctionCallContent } from "@agentfw/core";
import { brokenAnswer } from "./errors.ts";

/** A piece of a tool call as the service streams it. */
export interface ToolCallPiece {
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly arguments: string;
}

interface OpenCall {
  readonly index: number | undefined;
  serviceId: string | undefined;
  name: string | undefined;
  /** Ours as soon as the call has been handed on. */
  callId: string | undefined;
  arguments: string;
}

/**
 * Puts the pieces of the tool calls of one message in order and gives every call an id of its own.
 *
 * The service numbers its calls and sends id and name once. Compatible servers give every call the number 0, or none,
 * leave out ids, use one id twice, or repeat id and name with every piece; all of that ends as distinct calls.
 */
export class ToolCallReader {
  readonly #calls: OpenCall[] = [];
  readonly #callIds = new Set<string>();

  /** What a piece adds: the opening of a call, a continuation of its arguments (its name is empty), or nothing yet. */
  read(piece: ToolCallPiece): FunctionCallContent | undefined {
    const call = this.#continued(piece) ?? this.#open(piece);
    call.serviceId ??= piece.id;
    call.name ??= piece.name;
    call.arguments += piece.arguments;
    if (call.name === undefined) {
      return undefined;
    }
    if (call.callId === undefined) {
      call.callId = this.#distinctId(call.serviceId);
      return { type: "function_call", callId: call.callId, name: call.name, arguments: call.arguments };
    }
    return piece.arguments === ""
      ? undefined
      : { type: "function_call", callId: call.callId, name: "", arguments: piece.arguments };
  }

  /** Throws `unavailable` when a call never got a name. */
  end(): void {
    if (this.#calls.some((call) => call.name === undefined)) {
      throw brokenAnswer("a tool call has no name");
    }
  }

  #continued(piece: ToolCallPiece): OpenCall | undefined {
    const { index, id, name } = piece;
    const sameIndex = index === undefined ? this.#calls : this.#calls.filter((call) => call.index === index);
    const sameId = id === undefined ? undefined : sameIndex.findLast((call) => call.serviceId === id);
    const call = sameId ?? sameIndex.at(-1);
    if (call === undefined) {
      // What has no name opens nothing, whatever number it carries.
      return name === undefined && id === undefined ? this.#calls.at(-1) : undefined;
    }
    return isContinuedBy(call, piece) ? call : undefined;
  }

  #open({ index }: ToolCallPiece): OpenCall {
    const call = { index, serviceId: undefined, name: undefined, callId: undefined, arguments: "" };
    this.#calls.push(call);
    return call;
  }

  #distinctId(serviceId: string | undefined): string {
    const isFree = serviceId !== undefined && !this.#callIds.has(serviceId);
    // No dashes: with them it would be longer than the 40 characters that the service takes back.
    const callId = isFree ? serviceId : `call_${crypto.randomUUID().replaceAll("-", "")}`;
    this.#callIds.add(callId);
    return callId;
  }
}

function isContinuedBy(call: OpenCall, piece: ToolCallPiece): boolean {
  if (piece.name === undefined || call.name === undefined) {
    return true;
  }
  if (
    piece.name !== call.name ||
    (piece.id !== undefined && call.serviceId !== undefined && piece.id !== call.serviceId)
  ) {
    return false;
  }
  // Named again: either a server that repeats the name with every piece, or the same tool once more under the same id.
  return piece.arguments === "" || !isWholeObject(call.arguments);
}

function isWholeObject(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) {
    return false;
  }
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
