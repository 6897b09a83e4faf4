import { type Fields, fieldsOf, isFields, listOf, onlyMembers, Refusal, textOf } from "./refusal.ts";
import { checkMetadata, numberBetween, trueOrFalse, wholeNumber } from "./request-rules.ts";

type Check = (value: unknown, path: string) => void;

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const INCLUDABLE = ["reasoning.encrypted_content", "web_search_call.action.sources", "file_search_call.results"];
const HOSTED_TOOLS = ["web_search", "file_search", "code_interpreter", "image_generation", "mcp"];

const CHECKS: Readonly<Record<string, Check>> = {
  model: (value, path) => void textOf(value, path),
  input: () => undefined,
  instructions: (value, path) => void textOf(value, path),
  stream: trueOrFalse,
  store: trueOrFalse,
  previous_response_id: (value, path) => void textOf(value, path),
  conversation: (value, path) => void textOf(value, path),
  include: checkInclude,
  temperature: numberBetween(0, 2),
  top_p: numberBetween(0, 1),
  max_output_tokens: wholeNumber(16),
  metadata: checkMetadata,
  text: checkText,
  tools: checkTools,
  tool_choice: () => undefined,
  parallel_tool_calls: trueOrFalse,
  reasoning: (value, path) => onlyMembers(fieldsOf(value, path), ["effort", "summary"], path),
  truncation: (value, path) => void textOf(value, path),
  safety_identifier: (value, path) => void textOf(value, path),
};

/** Throws a {@link Refusal} for parameters that the real service answers with 400. The input is checked elsewhere. */
export function checkParameters(body: Fields): void {
  onlyMembers(body, Object.keys(CHECKS), "");
  for (const name of ["model", "input"]) {
    if (body[name] === undefined) {
      throw new Refusal(name, `Missing required parameter: '${name}'.`, "missing_required_parameter");
    }
  }
  for (const [name, value] of Object.entries(body)) {
    CHECKS[name]?.(value, name);
  }
  if (body["previous_response_id"] !== undefined && body["conversation"] !== undefined) {
    const rule = "Mutually exclusive parameters: 'previous_response_id' and 'conversation'.";
    throw new Refusal("conversation", rule, "mutually_exclusive_parameters");
  }
  if (body["tool_choice"] !== undefined) {
    checkToolChoice(body["tool_choice"], listOf(body["tools"] ?? [], "tools"));
  }
}

function checkInclude(value: unknown, path: string): void {
  for (const [index, entry] of listOf(value, path).entries()) {
    if (!INCLUDABLE.some((name) => name === entry)) {
      throw new Refusal(`${path}[${index}]`, `Invalid value: '${entry}'.`, "invalid_value");
    }
  }
}

function checkText(value: unknown, path: string): void {
  const text = fieldsOf(value, path);
  onlyMembers(text, ["format", "verbosity"], path);
  const format = fieldsOf(text["format"] ?? { type: "text" }, `${path}.format`);
  if (format["type"] !== "json_schema") {
    onlyMembers(format, ["type"], `${path}.format`);
    return;
  }
  onlyMembers(format, ["type", "name", "schema", "strict", "description"], `${path}.format`);
  fieldsOf(format["schema"], `${path}.format.schema`);
  if (!NAME.test(textOf(format["name"], `${path}.format.name`))) {
    throw new Refusal(`${path}.format.name`, "The name does not match the pattern.", "invalid_value");
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
  const type = textOf(tool["type"], `${path}.type`);
  if (HOSTED_TOOLS.includes(type)) {
    return `(${type})`;
  }
  if (type !== "function") {
    throw new Refusal(`${path}.type`, `Invalid value: '${type}'.`, "invalid_value");
  }
  onlyMembers(tool, ["type", "name", "description", "parameters", "strict"], path);
  trueOrFalse(tool["strict"], `${path}.strict`);
  const name = textOf(tool["name"], `${path}.name`);
  if (!NAME.test(name)) {
    throw new Refusal(`${path}.name`, "The name does not match '^[a-zA-Z0-9_-]+$'.", "invalid_value");
  }
  if (fieldsOf(tool["parameters"], `${path}.parameters`)["type"] !== "object") {
    const rule = `Invalid schema for function '${name}': its type must be "object".`;
    throw new Refusal(`${path}.parameters`, rule, "invalid_function_parameters");
  }
  return name;
}

function checkToolChoice(choice: unknown, tools: readonly unknown[]): void {
  if (typeof choice === "string") {
    if (!["auto", "none", "required"].includes(choice) || tools.length === 0) {
      throw new Refusal("tool_choice", `Invalid value: '${choice}'.`, "invalid_value");
    }
    return;
  }
  const named = fieldsOf(choice, "tool_choice");
  onlyMembers(named, ["type", "name"], "tool_choice");
  if (!tools.some((tool) => isFields(tool) && tool["name"] === named["name"])) {
    throw new Refusal("tool_choice", "The tool to choose is not among 'tools'.", "invalid_value");
  }
}
