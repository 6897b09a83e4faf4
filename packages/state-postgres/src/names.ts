import { quotedName } from "./quoting.ts";

/** Version of the stored layout; the functions have it in their names, so that two versions can run side by side. */
export const LAYOUT = 1;

/** What the store uses in the database, each with its schema and quoted. */
export interface Names {
  readonly schema: string;
  readonly layout: string;
  readonly item: string;
  readonly tag: string;
  readonly put: string;
  readonly list: string;
  readonly remove: string;
  readonly erase: string;
  readonly expire: string;
}

/** The names in one schema, which has been checked. */
export function namesIn(schema: string): Names {
  const quoted = quotedName(schema);
  const named = (name: string) => `${quoted}.state_${name}`;
  return {
    schema: quoted,
    layout: named("layout"),
    item: named("item"),
    tag: named("tag"),
    put: named(`put_v${LAYOUT}`),
    list: named(`list_v${LAYOUT}`),
    remove: named(`remove_v${LAYOUT}`),
    erase: named(`erase_v${LAYOUT}`),
    expire: named(`expire_v${LAYOUT}`),
  };
}

/** The store's functions. */
export function functionNames({ put, list, remove, erase, expire }: Names): string[] {
  return [put, list, remove, erase, expire];
}
