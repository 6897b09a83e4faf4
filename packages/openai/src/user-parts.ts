import type { Content } from "@agentfw/core";
import type { Refuse } from "./message-contents.ts";
import { ofType, userMedia } from "./user-media.ts";

/** A part of a user message as a request of Chat Completions carries it. */
export type UserPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } }
  | { readonly type: "input_audio"; readonly input_audio: { readonly data: string; readonly format: "wav" | "mp3" } }
  | { readonly type: "file"; readonly file: { readonly file_id: string } }
  | { readonly type: "file"; readonly file: { readonly file_data: string; readonly filename: string } };

/** The part for a content of a user message; calls `refuse` for one that the API has no place for. */
export function userPart(content: Content, refuse: Refuse): UserPart {
  const media = userMedia(content, refuse);
  switch (media.kind) {
    case "text":
      return { type: "text", text: media.text };
    case "image":
      return { type: "image_url", image_url: { url: media.url } };
    case "audio":
      return { type: "input_audio", input_audio: { data: media.data, format: media.format } };
    case "file":
      return { type: "file", file: { file_data: media.url, filename: media.name } };
    case "file_address":
      return refuse(content, ofType(media.mediaType));
    case "hosted_file":
      return { type: "file", file: { file_id: media.fileId } };
  }
}
