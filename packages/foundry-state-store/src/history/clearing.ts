import { isAgentFrameworkError } from "@agentfw/core";
import type { Progress } from "../progress.ts";
import type { Chain, Head } from "./chain.ts";
import { inParallel } from "./parallel.ts";

/**
 * Ends the life of a conversation, which is the one moment of a clear, and deletes what it held: from the oldest turn to the
 * newest, so that whoever is reading still sees where it ended, and notices what is missing before it.
 */
export async function clear(chain: Chain, progress: Progress): Promise<void> {
  const head = await chain.head();
  if (head !== undefined) {
    await endLife(chain, head, progress);
  }
  const turns = await chain.allTurns();
  if (turns.length === 0) {
    return;
  }
  // Asked after the listing: a life that was listed and has no head now is over, because its head came before its turns.
  const life = (await chain.head())?.life;
  const dead = new Map<string, number[]>();
  for (const one of turns.filter((turn) => turn.life !== life)) {
    dead.set(one.life, [...(dead.get(one.life) ?? []), one.turn]);
  }
  for (const [ended, numbers] of dead) {
    await deleteTurns(chain, ended, numbers, progress);
  }
}

async function endLife(chain: Chain, head: Head, progress: Progress): Promise<void> {
  for (;;) {
    progress.assertWanted();
    progress.hasChanged = true;
    try {
      await chain.end(head);
      return;
    } catch (error) {
      const isOpen = isAgentFrameworkError(error, "outcome_unknown") || isAgentFrameworkError(error, "conflict");
      if (!isOpen) {
        progress.hasChanged = false;
        throw error;
      }
    }
    // Gone, by this call or another's: either way it ended while this call ran.
    if ((await chain.head())?.life !== head.life) {
      return;
    }
  }
}

async function deleteTurns(chain: Chain, life: string, numbers: readonly number[], progress: Progress): Promise<void> {
  const sorted = [...numbers].sort((left, right) => left - right);
  const newest = sorted.pop();
  const remove = async (turn: number) => {
    progress.assertWanted();
    progress.hasChanged = true;
    await chain.deleteTurn(life, turn);
  };
  await inParallel(sorted, remove);
  if (newest !== undefined) {
    await remove(newest);
  }
}
