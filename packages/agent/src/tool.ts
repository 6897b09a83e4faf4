import {
  assertObject,
  configurationError,
  isPlainObject,
  type Json,
  type Tool,
  type ToolContext,
  toJson,
} from "@agentfw/core";
import { Validator } from "@cfworker/json-schema";
import { assertOptional } from "./checks.ts";
import { issuesText, type SchemaConverter, type ToolSchema } from "./standard-schema.ts";

/** The arguments do not fit the schema. The message is written for the model. */
export class ToolArgumentsError extends Error {
  override readonly name = "ToolArgumentsError";
}

/** JSON Schema of an arguments object. */
export type JsonSchema = Readonly<Record<string, unknown>>;

interface ToolSettings<Arguments> {
  /** Letters, digits, `_` and `-`, at most 64, as model services demand. */
  readonly name: string;
  readonly description?: string | undefined;
  /** Whether a person must approve a call before it runs. @default never */
  readonly approval?: "required" | ((args: Arguments, context: ToolContext) => boolean | Promise<boolean>) | undefined;
  /** Does the work. Without it the run ends at the call, and the caller answers in the next run. */
  readonly execute?: ((args: Arguments, context: ToolContext) => unknown) | undefined;
}

/** A tool whose arguments a schema library describes. */
export interface SchemaToolOptions<Input, Output> extends ToolSettings<Output> {
  readonly parameters: ToolSchema<Input, Output>;
  /** The JSON Schema for the model, when the schema library cannot give it. */
  readonly jsonSchema?: JsonSchema | undefined;
}

/** A tool whose arguments plain JSON Schema (2020-12) describes. */
export interface JsonSchemaToolOptions extends ToolSettings<Record<string, unknown>> {
  /** @default an object without members */
  readonly parameters?: JsonSchema | undefined;
}

/**
 * Makes a tool. Arguments are checked before `execute` sees them; what does not fit goes back to the model as an error
 * result that says why.
 *
 * @throws `configuration` for a name that services refuse, or a schema that cannot be shown to a model.
 */
export function tool<Input, Output>(options: SchemaToolOptions<Input, Output>): Tool;
export function tool(options: JsonSchemaToolOptions): Tool;
export function tool(options: SchemaToolOptions<unknown, unknown> | JsonSchemaToolOptions): Tool {
  assertObject(options, "tool");
  const { name, description, approval, execute } = options;
  assertToolName(name);
  const { definition, parse } = hasStandardSchema(options) ? fromSchema(options) : fromJsonSchema(options);
  const made: Tool = {
    name,
    ...(description === undefined ? {} : { description }),
    parameters: definition,
    parse,
    ...(approval === undefined ? {} : { approval: widened(approval) }),
    ...(execute === undefined ? {} : { execute: widened(execute) }),
  };
  assertTool(made);
  return made;
}

/**
 * `parse` runs before `execute` and `approval`, and gives what they declare; the port cannot express that, because it
 * holds tools of every kind in one list.
 */
function widened<T>(callback: unknown): T {
  return callback as T;
}

/** Tools that were found to be in order: a run asks before each of its model calls. */
const checked = new WeakSet<object>();

/** Refuses what is no tool, also one that was made without {@link tool}: `configuration` naming the member. */
export function assertTool(value: Tool): void {
  if (checked.has(value)) {
    return;
  }
  assertObject(value, "tool");
  assertToolName(value.name);
  const { name, approval } = value;
  if (!isPlainObject(value.parameters)) {
    throw configurationError(`tool ${name}: parameters`, "must be a JSON Schema object");
  }
  assertOptional(value.description, "string", `tool ${name}: description`);
  assertOptional(value.parse, "function", `tool ${name}: parse`);
  assertOptional(value.execute, "function", `tool ${name}: execute`);
  if (approval !== undefined && approval !== "required" && typeof approval !== "function") {
    throw configurationError(`tool ${name}: approval`, 'must be "required" or a function');
  }
  checked.add(value);
}

function assertToolName(name: unknown): void {
  if (typeof name !== "string" || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    throw configurationError("tool.name", "must be 1 to 64 letters, digits, _ and -");
  }
}

function hasStandardSchema(
  options: SchemaToolOptions<unknown, unknown> | JsonSchemaToolOptions,
): options is SchemaToolOptions<unknown, unknown> {
  const { parameters } = options;
  // Some libraries make schemas that are functions.
  const mayHold = (typeof parameters === "object" && parameters !== null) || typeof parameters === "function";
  return mayHold && "~standard" in parameters;
}

interface Parameters {
  readonly definition: Readonly<Record<string, Json>>;
  readonly parse: (args: unknown) => unknown;
}

function fromSchema(options: SchemaToolOptions<unknown, unknown>): Parameters {
  const standard = options.parameters["~standard"];
  const schema = options.jsonSchema ?? described(standard.jsonSchema, options.name);
  if (schema === undefined) {
    throw configurationError(
      `tool ${options.name}: jsonSchema`,
      `must be given, because the ${standard.vendor} schema cannot describe itself as JSON Schema`,
    );
  }
  return {
    definition: schemaObject(schema, options.name),
    parse: async (args) => {
      const result = await standard.validate(args);
      if (result.issues !== undefined) {
        throw new ToolArgumentsError(issuesText(result.issues));
      }
      return result.value;
    },
  };
}

function described(converter: SchemaConverter | undefined, name: string): JsonSchema | undefined {
  try {
    return converter?.input({ target: "draft-2020-12" });
  } catch (error) {
    throw configurationError(`tool ${name}: parameters`, "have no JSON Schema; describe them with jsonSchema", error);
  }
}

function fromJsonSchema(options: JsonSchemaToolOptions): Parameters {
  const definition = schemaObject(options.parameters ?? { type: "object", properties: {} }, options.name);
  // The validator annotates the schema that it is given, so it gets a copy of its own.
  const validator = new Validator(structuredClone(definition), "2020-12", false);
  return {
    definition,
    parse: (args) => {
      const { valid, errors } = validator.validate(args);
      if (!valid) {
        const details = errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
        throw new ToolArgumentsError(details.join("; "));
      }
      return args;
    },
  };
}

function schemaObject(schema: unknown, name: string): Readonly<Record<string, Json>> {
  const json = toJson(schema, `tool ${name}: parameters`);
  if (!isPlainObject(json) || Array.isArray(json)) {
    throw configurationError(`tool ${name}: parameters`, "must be a JSON Schema object");
  }
  const { $schema: _, ...rest } = json;
  if (rest["type"] !== undefined && rest["type"] !== "object") {
    throw configurationError(`tool ${name}: parameters`, 'must be of type "object"');
  }
  return { type: "object", ...rest };
}
