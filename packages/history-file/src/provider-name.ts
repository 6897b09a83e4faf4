/** Named in every error and diagnostic of this package. */
export const PROVIDER = "history-file";
