import { configurationError, type Json, type RunContext, type Tool, type ToolDefinition } from "@agentfw/core";
import { grep } from "./grep.ts";
import { editsFrom } from "./memory-edits.ts";
import type { MemoryFiles } from "./memory-files.ts";
import { assertMemoryName } from "./memory-names.ts";
import { quotedName } from "./memory-text.ts";
import { ToolArguments } from "./tool-arguments.ts";
import { DEFINITIONS } from "./tool-definitions.ts";
import { errorText, isGivenUp, isOperational } from "./tool-errors.ts";

/** Files that are listed in one answer. */
const MAX_LISTED = 500;

type Work = (args: ToolArguments, signal: AbortSignal) => Promise<unknown>;

/** The tools of one run. They answer with an error text where something does not work, and end no run. */
export function memoryTools(files: MemoryFiles, context: RunContext): readonly Tool[] {
  const tool = (definition: ToolDefinition, action: string, work: Work): Tool => ({
    ...definition,
    execute: async (args, { signal, callId }) => {
      try {
        return await work(new ToolArguments(args, Object.keys(propertiesOf(definition))), signal);
      } catch (error) {
        if (isGivenUp(error, signal)) {
          throw error;
        }
        if (isOperational(error)) {
          context.report({ type: "memory_tool_failed", message: `${definition.name} failed`, callId, cause: error });
        }
        return errorText(action, error);
      }
    },
  });
  return [...wholeFileTools(files, tool), ...lookingTools(files, tool), ...editingTools(files, tool)];
}

type MakeTool = (definition: ToolDefinition, action: string, work: Work) => Tool;

function wholeFileTools(files: MemoryFiles, tool: MakeTool): Tool[] {
  return [
    tool(DEFINITIONS.write, "write the file", async (args, signal) => {
      const name = nameIn(args);
      const isNew = await files.write(name, args.text("content"), args.optionalText("description"), signal);
      return isNew ? `Saved ${quotedName(name)}.` : `Saved ${quotedName(name)}, in place of what was there.`;
    }),
    tool(DEFINITIONS.read, "read the file", async (args, signal) => {
      const name = nameIn(args);
      return (await files.read(name, signal))?.content ?? missing(name);
    }),
    tool(DEFINITIONS.delete, "delete the file", async (args, signal) => {
      const name = nameIn(args);
      return (await files.delete(name, signal)) ? `Deleted ${quotedName(name)}.` : missing(name);
    }),
  ];
}

function lookingTools(files: MemoryFiles, tool: MakeTool): Tool[] {
  return [
    tool(DEFINITIONS.ls, "list the files", async (args, signal) => {
      const { entries, more } = await files.list(args.optionalText("glob_pattern"), MAX_LISTED, signal);
      const listed = entries.map(({ name, description }) => ({
        name,
        type: "file",
        ...(description === undefined ? {} : { description }),
      }));
      return more === 0 ? listed : [...listed, { note: `${more} more are not listed; use a glob_pattern.` }];
    }),
    tool(DEFINITIONS.grep, "search the files", (args, signal) =>
      grep(files, args.text("regex_pattern"), args.optionalText("glob_pattern"), signal),
    ),
  ];
}

function editingTools(files: MemoryFiles, tool: MakeTool): Tool[] {
  return [
    tool(DEFINITIONS.replace, "change the file", async (args, signal) => {
      const name = nameIn(args);
      const [oldText, newText] = [args.text("old_string"), args.text("new_string")];
      if (oldText === "") {
        throw configurationError("old_string", "must not be empty");
      }
      const count = await files.replace(name, { oldText, newText, all: args.flag("replace_all") }, signal);
      return count === undefined
        ? missing(name)
        : `Replaced ${count} ${count === 1 ? "place" : "places"} in ${quotedName(name)}.`;
    }),
    tool(DEFINITIONS.replaceLines, "change the file", async (args, signal) => {
      const name = nameIn(args);
      const edits = editsFrom(args.get("edits"));
      const count = `${edits.length} ${edits.length === 1 ? "line" : "lines"}`;
      return (await files.replaceLines(name, edits, signal))
        ? `Replaced ${count} in ${quotedName(name)}.`
        : missing(name);
    }),
  ];
}

function nameIn(args: ToolArguments): string {
  const name = args.get("file_name");
  assertMemoryName(name);
  return name;
}

function missing(name: string): string {
  return `Error: there is no memory file named ${quotedName(name)}.`;
}

function propertiesOf({ parameters }: ToolDefinition): object {
  const properties: Json = parameters["properties"] ?? {};
  return typeof properties === "object" && properties !== null ? properties : {};
}
