import { dirname } from "node:path";
import { isAgentFrameworkError } from "@agentfw/core";
import type { Directories } from "./directories.ts";
import { unless, unlink } from "./file-calls.ts";
import type { OpenFiles, Place } from "./open-files.ts";

/**
 * Removes the file, in one step. Under the lock. Readers that have it open keep what they are reading.
 *
 * @throws `unsupported` for a file of a later version, which is left as it is. A damaged one is removed.
 */
export async function clearConversation(
  files: OpenFiles,
  directories: Directories,
  place: Place,
  beforeChange: () => void,
): Promise<void> {
  try {
    await files.use(place, "read", async () => undefined);
  } catch (error) {
    if (!isAgentFrameworkError(error, "corrupt")) {
      throw error;
    }
  }
  beforeChange();
  await unless(["ENOENT"], unlink(place.file));
  files.forget(place);
  await directories.sync(dirname(place.file));
}
