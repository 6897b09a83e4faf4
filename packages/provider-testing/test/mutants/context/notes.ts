import type { ContextProvider, Message } from "@agentfw/core";
import { perWorld } from "../../support/mutant.ts";

/** What a provider that keeps notes does wrong. */
export interface NoteFlaws {
  /** Keeps the notes in the instance, where another process has none. */
  readonly inInstance?: boolean;
  /** Files the notes of a run under the session that ran last. */
  readonly underLastSession?: boolean;
  readonly ignoresEphemeral?: boolean;
  readonly ignoresServiceManaged?: boolean;
  readonly ignoresError?: boolean;
  readonly ignoresIds?: boolean;
  /** How many conversations it keeps before it forgets the oldest. */
  readonly conversations?: number;
}

const notesOf = perWorld(() => new Map<string, Message[]>());

/** A history without a store: all that a history must do in a few lines, so that each can be left out. */
export function noteKeeper(world: object, flaws: NoteFlaws): Partial<ContextProvider> {
  const notes = flaws.inInstance ? new Map<string, Message[]>() : notesOf(world);
  let current = "";
  const keep = (key: string, messages: readonly Message[]) => {
    const kept = notes.get(key) ?? [];
    const isFresh = ({ messageId }: Message) => flaws.ignoresIds || !kept.some((one) => one.messageId === messageId);
    notes.set(key, [...kept, ...messages.filter(isFresh)]);
    const [oldest] = notes.keys();
    if (notes.size > (flaws.conversations ?? Number.POSITIVE_INFINITY) && oldest !== undefined) {
      notes.delete(oldest);
    }
  };
  const keyOf = ({ session }: { readonly session: { readonly owner: string | null; readonly sessionId: string } }) =>
    flaws.underLastSession ? current : JSON.stringify([session.owner, session.sessionId]);
  return {
    async beforeRun(context) {
      current = JSON.stringify([context.session.owner, context.session.sessionId]);
      const isLeftOut =
        (context.ephemeral && !flaws.ignoresEphemeral) || (context.serviceManaged && !flaws.ignoresServiceManaged);
      if (!isLeftOut) {
        context.addHistory(notes.get(current) ?? []);
      }
    },
    async persist(context) {
      keep(keyOf(context), [...context.input, ...context.produced]);
    },
    async afterRun(context) {
      const isLeftOut =
        (context.ephemeral && !flaws.ignoresEphemeral) || (context.error !== undefined && !flaws.ignoresError);
      if (!isLeftOut) {
        keep(keyOf(context), [...context.input, ...context.produced]);
      }
    },
  };
}
