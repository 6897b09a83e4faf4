import type { Content, DataContent, UriContent } from "@agentfw/core";

/** A part of a user message as a request carries it. */
export type UserPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } }
  | { readonly type: "input_audio"; readonly input_audio: { readonly data: string; readonly format: "wav" | "mp3" } }
  | { readonly type: "file"; readonly file: { readonly file_id: string } }
  | { readonly type: "file"; readonly file: { readonly file_data: string; readonly filename: string } };

/** The two kinds of sound that the API takes, under the names in use for them. */
const AUDIO_FORMATS: ReadonlyMap<string, "wav" | "mp3"> = new Map<string, "wav" | "mp3">([
  ["audio/wav", "wav"],
  ["audio/wave", "wav"],
  ["audio/x-wav", "wav"],
  ["audio/vnd.wave", "wav"],
  ["audio/mp3", "mp3"],
  ["audio/mpeg", "mp3"],
]);

type Refuse = (content: Content, detail?: string) => never;

/** The part for a content of a user message; calls `refuse` for one that the API has no place for. */
export function userPart(content: Content, refuse: Refuse): UserPart {
  switch (content.type) {
    case "text":
      return { type: "text", text: content.text };
    case "uri":
      return uriPart(content, refuse);
    case "data":
      return dataPart(content, refuse);
    case "hosted_file":
      return { type: "file", file: { file_id: content.fileId } };
    default:
      return refuse(content, " in a user message");
  }
}

function uriPart(content: UriContent, refuse: Refuse): UserPart {
  const inline = /^data:([^;,]*)[^,]*;base64,(.*)$/is.exec(content.uri);
  if (inline !== null) {
    const [, mediaType = "", base64 = ""] = inline;
    return inlinePart(content, content.mediaType ?? mediaType, base64, undefined, refuse);
  }
  if (content.mediaType === undefined) {
    return refuse(content, " without a mediaType");
  }
  const mediaType = essence(content.mediaType);
  if (!mediaType.startsWith("image/") || !/^https?:/i.test(content.uri)) {
    return refuse(content, ` of type ${quoted(mediaType)}${mediaType.startsWith("image/") ? " at this address" : ""}`);
  }
  return { type: "image_url", image_url: { url: content.uri } };
}

function dataPart(content: DataContent, refuse: Refuse): UserPart {
  const { data } = content;
  const base64 = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
  return inlinePart(content, content.mediaType, base64, content.name, refuse);
}

function inlinePart(
  content: Content,
  declared: string,
  base64: string,
  name: string | undefined,
  refuse: Refuse,
): UserPart {
  const mediaType = essence(declared);
  const url = `data:${mediaType};base64,${base64}`;
  if (mediaType.startsWith("image/")) {
    return { type: "image_url", image_url: { url } };
  }
  const format = AUDIO_FORMATS.get(mediaType);
  if (format !== undefined) {
    return { type: "input_audio", input_audio: { data: base64, format } };
  }
  // Which documents a model reads changes from model to model; the service refuses those that it does not.
  if (/^(?:application|text)\//.test(mediaType)) {
    return { type: "file", file: { file_data: url, filename: name ?? defaultName(mediaType) } };
  }
  return refuse(content, ` of type ${quoted(mediaType)}`);
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
function quoted(mediaType: string): string {
  return /^[a-z0-9.+-]{1,40}\/[a-z0-9.+-]{1,80}$/.test(mediaType) ? mediaType : "unknown";
}
