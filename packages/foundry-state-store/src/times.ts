/** When something was made and last changed, in ISO 8601, of the seconds that the wire and the files count. */
export function timesOf(
  createdAt: unknown,
  updatedAt: unknown,
): { readonly createdAt: string | undefined; readonly updatedAt: string | undefined } {
  return { createdAt: timeOf(createdAt), updatedAt: timeOf(updatedAt) };
}

function timeOf(seconds: unknown): string | undefined {
  const isTime = typeof seconds === "number" && Math.abs(seconds) < 8.64e12;
  return isTime ? new Date(seconds * 1_000).toISOString() : undefined;
}
