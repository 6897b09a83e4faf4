/** How this package signs its errors. */
export const PROVIDER = "history-postgres";
