import type { Options } from "./options.ts";
import { keepSession } from "./session-file.ts";
import { complain, print, printable } from "./terminal.ts";
import { takeTurn } from "./turn.ts";
import { howToKeep, openWorkplace } from "./workplace.ts";

/** One turn in this process. */
export async function say(options: Options): Promise<number> {
  const place = await openWorkplace(options);
  try {
    print(`  process ${process.pid}, session ${place.session.sessionId}, owner ${options.owner}`);
    print(`  you: ${printable(options.text)}`);
    await takeTurn(place, options.text, { showLoaded: true });
    await keepSession(place.session, options);
    const keep = howToKeep(place, options);
    if (keep !== undefined) {
      complain(`  note: the conversation ends with this process, which forgets it now; ${keep}`);
    }
  } finally {
    await place.backend.close();
  }
  return 0;
}
