import type { ToolDefinition } from "@agentfw/core";

/** What follows `file_memory_` in the name of a tool. */
export type ToolName = "write" | "read" | "delete" | "ls" | "grep" | "replace" | "replace_lines";

/** A tool as the model sees it. */
export interface ToolText {
  readonly name: ToolName;
  /** What could not be done when it fails. */
  readonly action: string;
  readonly description: string;
  readonly properties: Readonly<Record<string, ToolDefinition["parameters"]>>;
  /** The properties that need not be given. */
  readonly optional?: readonly string[];
}

const FILE_NAME = { type: "string", description: 'A plain name such as "preferences.md". There are no folders.' };

const GLOB = {
  type: "string",
  description: "Only files whose names fit: * for anything, ? for one character, [abc], {a,b}. Optional.",
};

/** The tools in their order. */
export const TOOLS: readonly ToolText[] = [
  {
    name: "write",
    action: "write the file",
    description: "Saves a memory file. A file of the same name is replaced as a whole, its description too.",
    properties: {
      file_name: FILE_NAME,
      content: { type: "string", description: "The whole text of the file." },
      description: {
        type: "string",
        description:
          "One line that says what is in the file, so that you find it later. Without one the file has none.",
      },
    },
    optional: ["description"],
  },
  {
    name: "read",
    action: "read the file",
    description: "Gives the text of a memory file.",
    properties: { file_name: FILE_NAME },
  },
  {
    name: "delete",
    action: "delete the file",
    description: "Deletes a memory file and its description.",
    properties: { file_name: FILE_NAME },
  },
  {
    name: "ls",
    action: "list the files",
    description: "Lists the memory files with their descriptions.",
    properties: { glob_pattern: GLOB },
    optional: ["glob_pattern"],
  },
  {
    name: "grep",
    action: "search the files",
    description:
      "Finds the lines of memory files that match a regular expression, whatever their case. The line numbers are those that file_memory_replace_lines takes.",
    properties: {
      regex_pattern: {
        type: "string",
        description: "A regular expression of at most 256 characters, without look-around and back-references.",
      },
      glob_pattern: GLOB,
    },
    optional: ["glob_pattern"],
  },
  {
    name: "replace",
    action: "change the file",
    description: "Replaces a text in a memory file. The text must occur exactly once, unless replace_all is true.",
    properties: {
      file_name: FILE_NAME,
      old_string: { type: "string", description: "The text to replace, exactly as it stands in the file." },
      new_string: { type: "string", description: "What to put in its place." },
      replace_all: { type: "boolean", description: "Replace it wherever it occurs. Default: false." },
    },
    optional: ["replace_all"],
  },
  {
    name: "replace_lines",
    action: "change the file",
    description: "Replaces whole lines of a memory file. All line numbers are those of the file as it is now.",
    properties: {
      file_name: FILE_NAME,
      edits: {
        type: "array",
        items: {
          type: "object",
          properties: {
            line_number: { type: "integer", minimum: 1, description: "Counted from 1. Each line at most once." },
            new_line: {
              type: "string",
              description:
                "The new line, with a line break at its end to keep the next line apart. Empty removes the line.",
            },
          },
          required: ["line_number", "new_line"],
          additionalProperties: false,
        },
        minItems: 1,
      },
    },
  },
];
