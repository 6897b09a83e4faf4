import { connectionOf } from "./connection.ts";
import type { ResolvedConnection } from "./connection-options.ts";
import { Layout } from "./layout.ts";
import { pageOf } from "./listing.ts";
import type { Settings } from "./options.ts";
import { itemOf } from "./reading.ts";
import { assertStored, deletedOf, removedOf } from "./replies.ts";
import type { StoreSchema } from "./store-schema.ts";

/**
 * All that a store does with the database and its answers, loaded on demand and as one part: once it is there, nothing is
 * left to load.
 */
export interface Engine {
  readonly layout: Layout;
  readonly assertStored: typeof assertStored;
  readonly deletedOf: typeof deletedOf;
  readonly itemOf: typeof itemOf;
  readonly pageOf: typeof pageOf;
  readonly removedOf: typeof removedOf;
  /** Ends the connections that the store made. */
  close(): Promise<void>;
}

/** Loads the driver where it is needed. Connects at the first call. */
export async function openEngine(
  resolved: ResolvedConnection,
  settings: Settings,
  schema: StoreSchema,
): Promise<Engine> {
  const connection = await connectionOf(resolved, settings.timeoutMs);
  const layout = new Layout(connection, schema, settings);
  return { layout, assertStored, deletedOf, itemOf, pageOf, removedOf, close: () => layout.close() };
}
