/** Named in errors, but not in those that core throws for what is passed in. */
export const PROVIDER = "state-redis";
