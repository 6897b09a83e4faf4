import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Builds the app as its command does, once for all tests, which then run the bundle. */
export async function setup(): Promise<void> {
  const script = fileURLToPath(new URL("../../../../scripts/chat-server.mjs", import.meta.url));
  await promisify(execFile)(process.execPath, [script, "--help"]);
}
