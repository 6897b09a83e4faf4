/** Named in every error of this package. */
export const PROVIDER = "history-redis";
