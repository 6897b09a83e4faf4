import { configurationError, type RunContext, type Tool } from "@agentfw/core";
import { grep } from "./grep.ts";
import { editsFrom } from "./memory-edits.ts";
import type { MemoryFiles } from "./memory-files.ts";
import { assertMemoryName } from "./memory-names.ts";
import { quotedName } from "./memory-text.ts";
import { ToolArguments } from "./tool-arguments.ts";
import { TOOLS, type ToolName } from "./tool-definitions.ts";
import { errorText, isGivenUp, isOfTheModel } from "./tool-errors.ts";

/** Files that are listed in one answer. */
const MAX_LISTED = 500;

type Work = (files: MemoryFiles, args: ToolArguments, signal: AbortSignal) => Promise<unknown>;

/** What each tool does, and answers. */
const WORKS: Readonly<Record<ToolName, Work>> = {
  async write(files, args, signal) {
    const name = nameIn(args);
    const isNew = await files.write(name, args.text("content"), args.optionalText("description"), signal);
    return isNew ? `Saved ${quotedName(name)}.` : `Saved ${quotedName(name)}, in place of what was there.`;
  },

  async read(files, args, signal) {
    const name = nameIn(args);
    return (await files.read(name, signal))?.content ?? missing(name);
  },

  async delete(files, args, signal) {
    const name = nameIn(args);
    return (await files.delete(name, signal)) ? `Deleted ${quotedName(name)}.` : missing(name);
  },

  async ls(files, args, signal) {
    const { entries, more } = await files.list(args.optionalText("glob_pattern"), MAX_LISTED, signal);
    const listed = entries.map(({ name, description }) => ({
      name,
      type: "file",
      ...(description === undefined ? {} : { description }),
    }));
    return more === 0 ? listed : [...listed, { note: `${more} more are not listed; use a glob_pattern.` }];
  },

  async grep(files, args, signal) {
    return grep(files, args.text("regex_pattern"), args.optionalText("glob_pattern"), signal);
  },

  async replace(files, args, signal) {
    const name = nameIn(args);
    const [oldText, newText] = [args.text("old_string"), args.text("new_string")];
    if (oldText === "") {
      throw configurationError("old_string", "must not be empty");
    }
    const count = await files.replace(name, { oldText, newText, all: args.flag("replace_all") }, signal);
    return count === undefined ? missing(name) : done(count, "place", name);
  },

  async replace_lines(files, args, signal) {
    const name = nameIn(args);
    const edits = editsFrom(args.get("edits"));
    return (await files.replaceLines(name, edits, signal)) ? done(edits.length, "line", name) : missing(name);
  },
};

/** The tools of one run. They answer with an error text where something does not work, and end no run. */
export function memoryTools(files: MemoryFiles, context: RunContext): readonly Tool[] {
  return TOOLS.map(({ name, action, description, properties, optional = [] }) => {
    const fullName = `file_memory_${name}`;
    const known = Object.keys(properties);
    const required = known.filter((property) => !optional.includes(property));
    return {
      name: fullName,
      description,
      parameters: { type: "object", properties, required, additionalProperties: false },
      execute: async (args, { signal, callId }) => {
        try {
          return await WORKS[name](files, new ToolArguments(args, "arguments", known), signal);
        } catch (error) {
          if (isGivenUp(error, signal)) {
            throw error;
          }
          if (!isOfTheModel(error)) {
            context.report({ type: "memory_tool_failed", message: `${fullName} failed`, callId, cause: error });
          }
          return errorText(action, error);
        }
      },
    };
  });
}

function nameIn(args: ToolArguments): string {
  const name = args.get("file_name");
  assertMemoryName(name);
  return name;
}

function done(count: number, what: string, name: string): string {
  return `Replaced ${count} ${what}${count === 1 ? "" : "s"} in ${quotedName(name)}.`;
}

function missing(name: string): string {
  return `Error: there is no memory file named ${quotedName(name)}.`;
}
