import { isAgentFrameworkError } from "@agentfw/core";
import { inParallel } from "../in-parallel.ts";
import type { Chain, Head } from "./chain.ts";

/**
 * Ends the life of a conversation, which is the one moment of a clear, and deletes what it held: from the oldest turn to the
 * newest, so that whoever is reading still sees where it ended, and notices what is missing before it.
 */
export async function clear(chain: Chain): Promise<void> {
  const head = await chain.head();
  if (head !== undefined) {
    await endLife(chain, head);
  }
  const turns = await chain.allTurns();
  if (turns.length === 0) {
    return;
  }
  // Asked after the listing: a life that was listed and has no head now is over, because its head came before its turns.
  const alive = (await chain.head())?.life;
  for (const life of new Set(turns.map((turn) => turn.life))) {
    if (life !== alive) {
      const dead = turns.filter((turn) => turn.life === life).sort((left, right) => left.turn - right.turn);
      await inParallel(dead.slice(0, -1), ({ turn }) => chain.deleteTurn(life, turn));
      await inParallel(dead.slice(-1), ({ turn }) => chain.deleteTurn(life, turn));
    }
  }
}

async function endLife(chain: Chain, head: Head): Promise<void> {
  do {
    try {
      await chain.end(head);
      return;
    } catch (error) {
      if (!isAgentFrameworkError(error, "outcome_unknown") && !isAgentFrameworkError(error, "conflict")) {
        chain.progress.hasChanged = false;
        throw error;
      }
    }
    // Gone, by this call or another's: either way it ended while this call ran.
  } while ((await chain.head())?.life === head.life);
}
