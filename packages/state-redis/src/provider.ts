/** Named in every error of this package. */
export const PROVIDER = "state-redis";
