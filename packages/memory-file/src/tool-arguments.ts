import { configurationError } from "@agentfw/core";

/** The arguments of a call, as they came from the model. */
export class ToolArguments {
  readonly #values: ReadonlyMap<string, unknown>;

  /** @throws `configuration` for anything but an object, and for members that the tool does not have. */
  constructor(args: unknown, known: readonly string[]) {
    if (typeof args !== "object" || args === null || Array.isArray(args)) {
      throw configurationError("arguments", "must be an object");
    }
    this.#values = new Map(Object.entries(args));
    for (const name of this.#values.keys()) {
      if (!known.includes(name)) {
        throw configurationError(name, `is no argument of this tool; there are ${known.join(", ")}`);
      }
    }
  }

  get(name: string): unknown {
    return this.#values.get(name);
  }

  /** @throws `configuration` for anything but well-formed text. */
  text(name: string): string {
    const value = this.get(name);
    if (typeof value !== "string" || !value.isWellFormed()) {
      throw configurationError(name, "must be a text");
    }
    return value;
  }

  /** Undefined when it is absent, `null` or blank, as models like to say that they have nothing to say. */
  optionalText(name: string): string | undefined {
    const value = this.get(name);
    return value === undefined || value === null || this.text(name).trim() === "" ? undefined : this.text(name);
  }

  /** False unless it is said. @throws `configuration` */
  flag(name: string): boolean {
    const value = this.get(name) ?? false;
    if (typeof value !== "boolean") {
      throw configurationError(name, "must be true or false");
    }
    return value;
  }
}
