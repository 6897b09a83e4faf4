/**
 * Resolves once somebody wants this process to end: Ctrl-C, a terminal that closes, kill. From the first call on, these signals
 * no longer end it by themselves, so what it made can be taken away first.
 */
export function untilSignal() {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => resolve(signal));
  });
}
