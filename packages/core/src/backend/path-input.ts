import { configurationError } from "../errors.ts";

/** Refuses what is no path of any file system: anything but a text that is not blank and holds no NUL. @throws `configuration` */
export function assertPath(value: unknown, field: string): asserts value is string {
  if (typeof value !== "string" || value.trim() === "" || value.includes("\0")) {
    throw configurationError(field, "must be a path that is not blank, without NUL");
  }
}
