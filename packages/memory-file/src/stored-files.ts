import { Directories } from "./directories.ts";
import { toFrameworkError } from "./errors.ts";
import type { Settings } from "./options.ts";
import { Reading } from "./reading.ts";
import { Writing } from "./writing.ts";

/**
 * The files of a store and all that is done with them. Its callers have checked what was passed and made it their own;
 * they see to the deadline.
 */
export class StoredFiles {
  readonly reading: Reading;
  readonly writing: Writing;

  constructor(settings: Settings) {
    const directories = new Directories(settings.root, settings.fsync);
    this.reading = new Reading(settings, directories);
    this.writing = new Writing(settings, directories);
  }

  /** What callers see of an error. */
  explain(error: unknown, operation: string): unknown {
    return toFrameworkError(error, operation);
  }
}
