import type { Content, DataContent, UriContent } from "@agentfw/core";
import type { Refuse } from "./message-contents.ts";

/** What a content of a user message is, whichever API it goes to. */
export type UserMedia =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "image"; readonly url: string }
  | { readonly kind: "audio"; readonly data: string; readonly format: "wav" | "mp3" }
  | { readonly kind: "file"; readonly url: string; readonly name: string }
  | { readonly kind: "file_address"; readonly url: string; readonly mediaType: string }
  | { readonly kind: "hosted_file"; readonly fileId: string; readonly isImage: boolean };

/** The two kinds of sound that the APIs take, under the names in use for them. */
const AUDIO_FORMATS: ReadonlyMap<string, "wav" | "mp3"> = new Map<string, "wav" | "mp3">([
  ["audio/wav", "wav"],
  ["audio/wave", "wav"],
  ["audio/x-wav", "wav"],
  ["audio/vnd.wave", "wav"],
  ["audio/mp3", "mp3"],
  ["audio/mpeg", "mp3"],
]);

/** What a content of a user message is; calls `refuse` for one that no API has a place for. */
export function userMedia(content: Content, refuse: Refuse): UserMedia {
  switch (content.type) {
    case "text":
      return { kind: "text", text: content.text };
    case "uri":
      return uriMedia(content, refuse);
    case "data":
      return dataMedia(content, refuse);
    case "hosted_file": {
      const isImage = essence(content.mediaType ?? "").startsWith("image/");
      return { kind: "hosted_file", fileId: content.fileId, isImage };
    }
    default:
      return refuse(content, " in a user message");
  }
}

function uriMedia(content: UriContent, refuse: Refuse): UserMedia {
  const inline = /^data:([^;,]*)[^,]*;base64,(.*)$/is.exec(content.uri);
  if (inline !== null) {
    const [, mediaType = "", base64 = ""] = inline;
    return inlineMedia(content, content.mediaType ?? mediaType, base64, undefined, refuse);
  }
  if (content.mediaType === undefined) {
    return refuse(content, " without a mediaType");
  }
  const mediaType = essence(content.mediaType);
  const isImage = mediaType.startsWith("image/");
  if (/^https?:/i.test(content.uri) && (isImage || isDocument(mediaType))) {
    return isImage ? { kind: "image", url: content.uri } : { kind: "file_address", url: content.uri, mediaType };
  }
  return refuse(content, ofType(mediaType) + (isImage || isDocument(mediaType) ? " at this address" : ""));
}

function dataMedia(content: DataContent, refuse: Refuse): UserMedia {
  const { data } = content;
  const base64 = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
  return inlineMedia(content, content.mediaType, base64, content.name, refuse);
}

function inlineMedia(
  content: Content,
  declared: string,
  base64: string,
  name: string | undefined,
  refuse: Refuse,
): UserMedia {
  const mediaType = essence(declared);
  const url = `data:${mediaType};base64,${base64}`;
  if (mediaType.startsWith("image/")) {
    return { kind: "image", url };
  }
  const format = AUDIO_FORMATS.get(mediaType);
  if (format !== undefined) {
    return { kind: "audio", data: base64, format };
  }
  return isDocument(mediaType)
    ? { kind: "file", url, name: name ?? defaultName(mediaType) }
    : refuse(content, ofType(mediaType));
}

/** Which documents a model reads changes from model to model; the service refuses those that it does not. */
function isDocument(mediaType: string): boolean {
  return /^(?:application|text)\//.test(mediaType);
}

/** The media type without its parameters. */
function essence(mediaType: string): string {
  return (mediaType.split(";")[0] ?? "").trim().toLowerCase();
}

/** The service wants a name beside the bytes, and tells the kind of file by its ending. */
function defaultName(mediaType: string): string {
  const subtype = mediaType.slice(mediaType.indexOf("/") + 1);
  const ending = subtype === "plain" ? "txt" : subtype;
  return /^[a-z0-9]{1,8}$/.test(ending) ? `file.${ending}` : "file";
}

/** A media type that may come from anywhere, in a form that is safe in an error. */
export function ofType(mediaType: string): string {
  return ` of type ${/^[a-z0-9.+-]{1,40}\/[a-z0-9.+-]{1,80}$/.test(mediaType) ? mediaType : "unknown"}`;
}
