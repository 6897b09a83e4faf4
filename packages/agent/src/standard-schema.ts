/**
 * The part of the Standard Schema and Standard JSON Schema conventions that tools use: a schema checks and converts a
 * value, and says what it accepts as JSON Schema. Zod 4, Valibot and ArkType schemas fit.
 */
export interface ToolSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: SchemaConverter | undefined;
  };
}

/** Gives the JSON Schema of what a schema accepts. */
export interface SchemaConverter {
  readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
}

/** The outcome of a check. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** One thing that does not fit. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Issues as text that a model can act on. */
export function issuesText(issues: readonly SchemaIssue[]): string {
  return issues
    .map(({ message, path = [] }) => {
      const names = path.map((part) => String(typeof part === "object" ? part.key : part));
      return names.length === 0 ? message : `${names.join(".")}: ${message}`;
    })
    .join("; ");
}
