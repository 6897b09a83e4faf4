/** How many ids of a conversation are remembered at least. */
export const DEDUPE_IDS = 1_000;
