import { openBackend } from "./backends/index.ts";
import type { Options } from "./options.ts";
import { print, printable } from "./terminal.ts";

/** What psql is for a server: prints the rows of a statement, each on a line as JSON. */
export async function runSql(options: Options): Promise<number> {
  const backend = await openBackend(options);
  try {
    for (const row of (await backend.query?.(options.sql)) ?? []) {
      // The server's largest numbers are none that JSON has.
      print(printable(JSON.stringify(row, (_, value) => (typeof value === "bigint" ? String(value) : value))));
    }
  } finally {
    await backend.close();
  }
  return 0;
}
