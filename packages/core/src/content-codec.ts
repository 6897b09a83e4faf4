import type { Content } from "./content.ts";
import { configurationError } from "./errors.ts";
import { isPlainObject, type Json, toJson } from "./json.ts";

/** What a member must be, and whether it is. */
type Kind = readonly [rule: string, fits: (member: unknown) => boolean];

const KINDS: Readonly<Record<string, Kind>> = {
  s: ["a string", (member) => typeof member === "string"],
  b: ["true or false", (member) => typeof member === "boolean"],
  o: ["an object", isPlainObject],
  y: ["a Uint8Array", (member) => member instanceof Uint8Array],
  c: [
    "a function_call content",
    (member) => isPlainObject(member) && member["type"] === "function_call" && isContent(member),
  ],
};

const ANY_JSON: Kind = ["a JSON value", () => true];

/**
 * The members that make a content what it says it is, each with its kind, any JSON where {@link KINDS} has none; `?`
 * marks a member that may be absent. Members that are not listed travel along.
 */
const MEMBERS: ReadonlyMap<string, readonly (readonly [name: string, kind: Kind, isOptional: boolean])[]> = new Map(
  [
    "text text:s",
    "text_reasoning text:s? protectedData:s?",
    "data data:y mediaType:s name:s?",
    "uri uri:s mediaType:s?",
    "error message:s? errorCode:s? details:s?",
    "function_call callId:s name:s arguments:s",
    "function_result callId:s result:j exception:s?",
    "function_approval_request id:s functionCall:c",
    "function_approval_response id:s approved:b functionCall:c? reason:s?",
    "usage details:o",
    "hosted_file fileId:s mediaType:s? name:s?",
    "hosted_vector_store vectorStoreId:s",
    ...["code_interpreter", "image_generation", "mcp_server", "search", "shell"].flatMap((tool) => [
      `${tool}_tool_call callId:s?`,
      `${tool}_tool_result callId:s?`,
    ]),
    "shell_command_output callId:s?",
    "oauth_consent_request consentLink:s",
    // The members of a message itself, beside its role and contents.
    "message messageId:s createdAt:s? authorName:s? additionalProperties:o?",
  ].map((line) => {
    const [type = "", ...members] = line.split(" ");
    return [
      type,
      members.map((member) => {
        const [name = "", kind = ""] = member.split(":");
        return [name, KINDS[kind.charAt(0)] ?? ANY_JSON, kind.endsWith("?")] as const;
      }),
    ];
  }),
);

/**
 * Reads a content from stored JSON. A type that this version does not know, or one whose members do not fit, is kept
 * whole as `unknown`: it may come from a newer version, and is written back as it was.
 */
export function contentFromJson(value: Json): Content {
  if (isPlainObject(value)) {
    const content = value["type"] === "data" ? withBytes(value) : value;
    if (content !== undefined && isContent(content)) {
      return content;
    }
  }
  return { type: "unknown", raw: value };
}

/** What is written for a content: bytes as base64, an unknown content as it was read. Not copied, not checked. */
export function contentToStored(content: Content): unknown {
  if (content.type === "unknown") {
    return content.raw;
  }
  return content.type === "data" ? { ...content, data: toBase64(content.data) } : content;
}

/**
 * A checked copy of a content that a caller passed.
 *
 * @throws `configuration` naming the path of a type that is not known, a member that does not fit, or a value that
 * JSON cannot hold. Contents of later versions are passed on as `{ type: "unknown", raw }`.
 */
export function contentFromInput(value: unknown, path: string): Content {
  if (typeof value === "string") {
    return { type: "text", text: value };
  }
  if (!isPlainObject(value)) {
    throw configurationError(path, "must be a content object or a string");
  }
  const type = value["type"];
  if (type === "unknown") {
    // It will be read back as what it is: a known content must not pass unseen by what looks for it in an input.
    return contentFromJson(toJson(value["raw"] ?? null, `${path}.raw`));
  }
  const misfit = firstMisfit(type === "function_call" ? withTextArguments(value, path) : value);
  if (misfit !== undefined) {
    throw configurationError(path + misfit.member, misfit.rule);
  }
  return copyChecked(value, path);
}

function copyChecked(value: Record<string, unknown>, path: string): Content {
  const bytes = value["data"];
  const isData = value["type"] === "data" && bytes instanceof Uint8Array;
  const copy = toJson(isData ? { ...value, data: "" } : withTextArguments(value, path), path);
  const content = isData && isPlainObject(copy) ? { ...copy, data: Uint8Array.from(bytes) } : copy;
  if (!isPlainObject(content) || !isContent(content)) {
    throw configurationError(path, "must be a content object");
  }
  return content;
}

/** Arguments given as an object are written as the JSON text that a model would have written. */
function withTextArguments(value: Record<string, unknown>, path: string): Record<string, unknown> {
  if (value["type"] !== "function_call" || !isPlainObject(value["arguments"])) {
    return value;
  }
  return { ...value, arguments: JSON.stringify(toJson(value["arguments"], `${path}.arguments`)) };
}

function isContent(value: Record<string, unknown>): value is Record<string, unknown> & Content {
  return firstMisfit(value) === undefined;
}

/** The first member that does not fit the type, as a part of a path, and what it must be. */
export function firstMisfit(
  value: Record<string, unknown>,
  as?: "message",
): { member: string; rule: string } | undefined {
  const type = as ?? value["type"];
  const members = typeof type === "string" ? MEMBERS.get(type) : undefined;
  if (members === undefined || (type === "message" && as === undefined)) {
    return { member: ".type", rule: 'is not a content type; pass { type: "unknown", raw } for a later one' };
  }
  for (const [name, [rule, fits], isOptional] of members) {
    const member = value[name];
    if (member === undefined ? !isOptional : !fits(member)) {
      return { member: `.${name}`, rule: `must be ${rule}` };
    }
  }
  return undefined;
}

/** A data content with its base64 decoded; `undefined` when it is no base64 that we would have written. */
function withBytes(value: Record<string, unknown>): Record<string, unknown> | undefined {
  const data = value["data"];
  if (typeof data !== "string") {
    return undefined;
  }
  try {
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    return toBase64(bytes) === data ? { ...value, data: bytes } : undefined;
  } catch {
    return undefined;
  }
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let index = 0; index < bytes.length; index += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(index, index + 0x8000));
  }
  return btoa(binary);
}
