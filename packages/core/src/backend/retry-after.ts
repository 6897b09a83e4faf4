/**
 * How long a service asks to be left alone, in milliseconds, by the text of its `Retry-After` header: whole seconds or an HTTP date;
 * undefined for any other text, and for none.
 */
export function retryAfterMs(text: unknown): number | undefined {
  if (typeof text !== "string") {
    return undefined;
  }
  if (/^\d{1,9}$/.test(text)) {
    return Number(text) * 1_000;
  }
  // Date.parse makes a date of nearly anything, "-5" and "1.5" included.
  const date = /^[A-Z][a-z]{2,8},? .* GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
