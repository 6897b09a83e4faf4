import { configurationError } from "../errors.ts";
import { assertObject, assertOwner } from "../store-input.ts";

/**
 * The owner whose data a filter says to erase; `null` for what has none.
 *
 * @throws `configuration` for a filter that does not name an owner, or seems to narrow it down: everything would be erased.
 */
export function ownerToErase(filter: { readonly owner: string | null }): string | null {
  assertObject(filter, "filter");
  const { owner } = filter;
  assertOwner(owner, "filter.owner");
  const unknown = Object.keys(filter).find((name) => name !== "owner");
  if (unknown !== undefined) {
    throw configurationError(`filter.${unknown}`, "narrows nothing down: all that the owner has would be deleted");
  }
  return owner;
}
