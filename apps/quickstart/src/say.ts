import type { Options } from "./options.ts";
import { keepSession } from "./session-file.ts";
import { complain, print, printable } from "./terminal.ts";
import { takeTurn } from "./turn.ts";
import { openWorkplace } from "./workplace.ts";

/** One turn in this process. */
export async function say(options: Options): Promise<number> {
  const place = await openWorkplace(options);
  try {
    print(`  process ${process.pid}, session ${place.session.sessionId}, owner ${options.owner}`);
    print(`  you: ${printable(options.text)}`);
    await takeTurn(place, options.text, { showLoaded: true });
    await keepSession(place.session, options);
    if (place.backend.isInSession && options.sessionFile === undefined) {
      complain("  note: this process kept the conversation in memory and forgets it now; --session-file FILE keeps it");
    }
  } finally {
    await place.backend.close();
  }
  return 0;
}
