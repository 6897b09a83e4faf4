import { type DiagnosticHandler, report } from "@agentfw/core";
import { lstat } from "./file-calls.ts";
import type { Place } from "./open-files.ts";
import { PROVIDER } from "./provider-name.ts";

const MAX_REMEMBERED = 1000;

/** Reports what a writer that died left behind the last committed line: once, whether it is read or cut first. */
export class TornTails {
  readonly #onDiagnostic: DiagnosticHandler | undefined;
  readonly #reported = new Set<string>();

  constructor(onDiagnostic: DiagnosticHandler | undefined) {
    this.#onDiagnostic = onDiagnostic;
  }

  /** A reader found bytes behind the last line. Someone may just be writing them; then there is nothing to report. */
  async read(place: Place, end: number, bytes: number): Promise<void> {
    const name = nameOf(place, end);
    if (this.#onDiagnostic === undefined || this.#reported.has(name)) {
      return;
    }
    const lock = await lstat(`${place.file}.lock`);
    const status = await lstat(place.file);
    if (lock === undefined && Number(status?.size) === end + bytes) {
      if (this.#reported.size >= MAX_REMEMBERED) {
        this.#reported.clear();
      }
      this.#reported.add(name);
      this.#report(place, end, bytes);
    }
  }

  /** A writer removed them. */
  cut(place: Place, end: number, bytes: number): void {
    if (!this.#reported.delete(nameOf(place, end))) {
      this.#report(place, end, bytes);
    }
  }

  #report(place: Place, end: number, bytes: number): void {
    report(this.#onDiagnostic, {
      type: "torn_tail_cut",
      provider: PROVIDER,
      message: `a write that was never completed left ${bytes} bytes; everything before them is whole`,
      sessionId: place.key.session,
      position: `byte ${end}`,
    });
  }
}

function nameOf(place: Place, end: number): string {
  return `${end} ${place.file}`;
}
