/** A request that the real service refuses too. Becomes a 400 with a body that says where and why. */
export class Refusal extends Error {
  readonly status: number;
  readonly parameter: string | null;
  readonly code: string | null;

  constructor(parameter: string | null, message: string, code: string | null = null, status = 400) {
    super(message);
    this.parameter = parameter;
    this.code = code;
    this.status = status;
  }

  get body(): object {
    const type = this.status === 400 ? "invalid_request_error" : "request_error";
    return { error: { message: this.message, type, param: this.parameter, code: this.code } };
  }
}

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function fieldsOf(value: unknown, path: string): Fields {
  if (!isFields(value)) {
    throw new Refusal(path, `Invalid type for '${path}': expected an object.`, "invalid_type");
  }
  return value;
}

export function listOf(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) {
    throw new Refusal(path, `Invalid type for '${path}': expected an array.`, "invalid_type");
  }
  return value;
}

export function textOf(value: unknown, path: string): string {
  if (typeof value !== "string") {
    throw new Refusal(path, `Invalid type for '${path}': expected a string.`, "invalid_type");
  }
  return value;
}

/** Refuses members that are not in the list. */
export function onlyMembers(value: Fields, allowed: readonly string[], path: string): void {
  for (const name of Object.keys(value)) {
    if (!allowed.includes(name)) {
      const where = path === "" ? name : `${path}.${name}`;
      throw new Refusal(where, `Unknown parameter: '${where}'.`, "unknown_parameter");
    }
  }
}
