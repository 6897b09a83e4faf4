import { createHash } from "node:crypto";
import type { StoreRecord } from "../data/store-data.ts";
import { CALL_ID_HEADER } from "../protocol.ts";
import { Refusal } from "./replies.ts";
import type { EmulatorRequest } from "./request.ts";
import type { EmulatorSettings } from "./world.ts";

/** Whose items a request sees: everybody's in a shared store, else those of the user behind the call id. */
export function partitionName(settings: EmulatorSettings, store: StoreRecord, request: EmulatorRequest): string {
  if (!store.userIsolation) {
    return "";
  }
  const user = settings.users.get(request.header(CALL_ID_HEADER) ?? "");
  if (user !== undefined) {
    return `user ${user}`;
  }
  const { withoutUser } = settings;
  if (withoutUser === "token") {
    const token = request.header("authorization") ?? "";
    return `token ${createHash("sha256").update(token).digest("hex")}`;
  }
  const message = `${CALL_ID_HEADER}: names no known call, and the items of this store are kept apart by user`;
  const code = withoutUser === 400 ? "invalid_request" : "unauthorized";
  throw new Refusal(withoutUser, code, message, { param: CALL_ID_HEADER });
}

/** Refuses a request without a bearer token. Which token it is does not matter here. */
export function assertToken(request: { header(name: string): string | undefined }): void {
  if (!/^Bearer +\S/i.test(request.header("authorization") ?? "")) {
    throw new Refusal(401, "unauthorized", "a bearer token is needed");
  }
}
