import { checkMessages } from "./message-rules.ts";
import { type Fields, fieldsOf, isFields, listOf, onlyMembers, Refusal, textOf } from "./refusal.ts";

/** What a server lets pass beyond the service's own parameters, to stand in for a compatible one. */
export interface Leniency {
  /** Further top-level parameters. */
  readonly parameters?: readonly string[];
  /** Further members of assistant messages. */
  readonly assistantMembers?: readonly string[];
}

type Check = (value: unknown, path: string) => void;

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

export function numberBetween(low: number, high: number): Check {
  return (value, path) => {
    if (typeof value !== "number" || value < low || value > high) {
      throw new Refusal(path, `Expected a number between ${low} and ${high}.`, "decimal_out_of_range");
    }
  };
}

export function wholeNumber(minimum: number): Check {
  return (value, path) => {
    if (!Number.isInteger(value) || Number(value) < minimum) {
      throw new Refusal(path, `Expected an integer of at least ${minimum}.`, "integer_below_min_value");
    }
  };
}

export function trueOrFalse(value: unknown, path: string): void {
  if (typeof value !== "boolean") {
    throw new Refusal(path, `Invalid type for '${path}': expected a boolean.`, "invalid_type");
  }
}

const CHECKS: Readonly<Record<string, Check>> = {
  model: (value, path) => void textOf(value, path),
  messages: () => undefined,
  stream: trueOrFalse,
  stream_options: checkStreamOptions,
  temperature: numberBetween(0, 2),
  top_p: numberBetween(0, 1),
  frequency_penalty: numberBetween(-2, 2),
  presence_penalty: numberBetween(-2, 2),
  max_completion_tokens: wholeNumber(1),
  max_tokens: wholeNumber(1),
  seed: wholeNumber(Number.MIN_SAFE_INTEGER),
  n: wholeNumber(1),
  stop: checkStop,
  store: trueOrFalse,
  metadata: checkMetadata,
  response_format: checkResponseFormat,
  tools: checkTools,
  tool_choice: () => undefined,
  parallel_tool_calls: trueOrFalse,
  reasoning_effort: (value, path) => void textOf(value, path),
  user: (value, path) => void textOf(value, path),
};

/** Throws a {@link Refusal} for a request that the real service answers with 400. */
export function checkRequest(body: Fields, leniency: Leniency = {}): void {
  onlyMembers(body, [...Object.keys(CHECKS), ...(leniency.parameters ?? [])], "");
  for (const name of ["model", "messages"]) {
    if (body[name] === undefined) {
      throw new Refusal(name, `Missing required parameter: '${name}'.`, "missing_required_parameter");
    }
  }
  for (const [name, value] of Object.entries(body)) {
    CHECKS[name]?.(value, name);
  }
  checkMessages(body["messages"], leniency.assistantMembers);
  checkTogether(body);
}

function checkTogether(body: Fields): void {
  if (body["max_tokens"] !== undefined && body["max_completion_tokens"] !== undefined) {
    throw new Refusal("max_tokens", "Setting both token limits is not supported.", "invalid_value");
  }
  if (body["stream_options"] !== undefined && body["stream"] !== true) {
    throw new Refusal("stream_options", "Only allowed when 'stream' is enabled.", "invalid_value");
  }
  for (const name of ["tool_choice", "parallel_tool_calls"]) {
    if (body[name] !== undefined && body["tools"] === undefined) {
      throw new Refusal(name, `'${name}' is only allowed when 'tools' are specified.`, "invalid_value");
    }
  }
  if (body["tool_choice"] !== undefined) {
    checkToolChoice(body["tool_choice"], listOf(body["tools"], "tools"));
  }
  const format = body["response_format"];
  if (isFields(format) && format["type"] === "json_object" && !/json/i.test(JSON.stringify(body["messages"]))) {
    throw new Refusal("messages", "'messages' must contain the word 'json' in some form.", "invalid_value");
  }
}

function checkStreamOptions(value: unknown, path: string): void {
  onlyMembers(fieldsOf(value, path), ["include_usage", "include_obfuscation"], path);
}

function checkStop(value: unknown, path: string): void {
  const list = typeof value === "string" ? [value] : listOf(value, path);
  if (list.length === 0 || list.length > 4 || list.some((entry) => typeof entry !== "string")) {
    throw new Refusal(path, "Expected one to four strings.", "invalid_value");
  }
}

export function checkMetadata(value: unknown, path: string): void {
  const entries = Object.entries(fieldsOf(value, path));
  if (entries.length > 16 || entries.some(([, entry]) => typeof entry !== "string")) {
    throw new Refusal(path, "Expected at most 16 strings.", "invalid_value");
  }
}

function checkResponseFormat(value: unknown, path: string): void {
  const format = fieldsOf(value, path);
  if (format["type"] !== "json_schema") {
    onlyMembers(format, ["type"], path);
    if (format["type"] !== "text" && format["type"] !== "json_object") {
      throw new Refusal(`${path}.type`, "Unknown response format.", "invalid_value");
    }
    return;
  }
  onlyMembers(format, ["type", "json_schema"], path);
  const schema = fieldsOf(format["json_schema"], `${path}.json_schema`);
  onlyMembers(schema, ["name", "schema", "strict", "description"], `${path}.json_schema`);
  fieldsOf(schema["schema"], `${path}.json_schema.schema`);
  if (!NAME.test(textOf(schema["name"], `${path}.json_schema.name`))) {
    throw new Refusal(`${path}.json_schema.name`, "The name does not match the pattern.", "invalid_value");
  }
}

function checkTools(value: unknown, path: string): void {
  const tools = listOf(value, path);
  if (tools.length === 0 || tools.length > 128) {
    throw new Refusal(path, "Expected 1 to 128 tools.", "empty_array");
  }
  const names = tools.map((entry, index) => checkTool(fieldsOf(entry, `${path}[${index}]`), `${path}[${index}]`));
  if (new Set(names).size < names.length) {
    throw new Refusal(path, "Tool names must be unique.", "invalid_value");
  }
}

function checkTool(tool: Fields, path: string): string {
  onlyMembers(tool, ["type", "function"], path);
  if (tool["type"] !== "function") {
    throw new Refusal(`${path}.type`, "Expected 'function'.", "invalid_value");
  }
  const definition = fieldsOf(tool["function"], `${path}.function`);
  onlyMembers(definition, ["name", "description", "parameters", "strict"], `${path}.function`);
  const name = textOf(definition["name"], `${path}.function.name`);
  if (!NAME.test(name)) {
    throw new Refusal(`${path}.function.name`, "The name does not match '^[a-zA-Z0-9_-]+$'.", "invalid_value");
  }
  if (definition["description"] !== undefined) {
    textOf(definition["description"], `${path}.function.description`);
  }
  const schema = fieldsOf(definition["parameters"], `${path}.function.parameters`);
  if (schema["type"] !== "object") {
    throw new Refusal(
      `${path}.function.parameters`,
      `Invalid schema for function '${name}': its type must be "object".`,
      "invalid_function_parameters",
    );
  }
  return name;
}

function checkToolChoice(choice: unknown, tools: readonly unknown[]): void {
  if (typeof choice === "string") {
    if (!["auto", "none", "required"].includes(choice)) {
      throw new Refusal("tool_choice", `Invalid value: '${choice}'.`, "invalid_value");
    }
    return;
  }
  const named = fieldsOf(choice, "tool_choice");
  onlyMembers(named, ["type", "function"], "tool_choice");
  const chosen = fieldsOf(named["function"], "tool_choice.function");
  onlyMembers(chosen, ["name"], "tool_choice.function");
  const names = tools.map((tool) => (isFields(tool) && isFields(tool["function"]) ? tool["function"]["name"] : null));
  if (named["type"] !== "function" || !names.includes(chosen["name"])) {
    throw new Refusal("tool_choice", "The tool to choose is not among 'tools'.", "invalid_value");
  }
}
