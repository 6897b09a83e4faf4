import { configurationError } from "@agentfw/core";

/** Refuses options that hold none or several of the members of which each says the same in its own way. @throws `configuration` naming them */
export function assertExactlyOne(options: object, field: string, ...ways: readonly string[]): void {
  const given = ways.filter((way) => Reflect.get(options, way) !== undefined);
  if (given.length !== 1) {
    throw configurationError(field, `must have exactly one of ${ways.slice(0, -1).join(", ")} and ${ways.at(-1)}`);
  }
}
