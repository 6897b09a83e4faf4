import { configurationError } from "@agentfw/core";
import { assertOptions } from "@agentfw/core/backend";

/** The arguments of a call, or an edit among them, as they came from the model. */
export class ToolArguments {
  readonly #values: ReadonlyMap<string, unknown>;

  /** @throws `configuration` for anything but an object, and for members that there are none of. */
  constructor(args: unknown, field: string, known: readonly string[]) {
    assertOptions(args, field, known);
    this.#values = new Map(Object.entries(args));
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
    const text = (this.get(name) ?? null) === null ? "" : this.text(name);
    return text.trim() === "" ? undefined : text;
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
