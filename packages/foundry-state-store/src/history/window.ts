/** How many of the newest ids of a conversation are remembered. */
export const WINDOW = 1_000;
