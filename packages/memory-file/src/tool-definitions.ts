import type { ToolDefinition } from "@agentfw/core";

const FILE_NAME = {
  type: "string",
  description: 'A plain name such as "preferences.md". There are no folders.',
} as const;

const GLOB = {
  type: "string",
  description: "Only files whose names fit: * for anything, ? for one character, [abc], {a,b}. Optional.",
} as const;

type Properties = Readonly<Record<string, Readonly<Record<string, string | ToolDefinition["parameters"] | number>>>>;

function definition(name: string, description: string, properties: Properties, required: string[]): ToolDefinition {
  return {
    name: `file_memory_${name}`,
    description,
    parameters: { type: "object", properties, required, additionalProperties: false },
  };
}

type ToolName = "write" | "read" | "delete" | "ls" | "grep" | "replace" | "replaceLines";

/** The tools as the model sees them. */
export const DEFINITIONS: Readonly<Record<ToolName, ToolDefinition>> = {
  write: definition(
    "write",
    "Saves a memory file. A file of the same name is replaced as a whole, its description too.",
    {
      file_name: FILE_NAME,
      content: { type: "string", description: "The whole text of the file." },
      description: {
        type: "string",
        description:
          "One line that says what is in the file, so that you find it later. Without one the file has none.",
      },
    },
    ["file_name", "content"],
  ),
  read: definition("read", "Gives the text of a memory file.", { file_name: FILE_NAME }, ["file_name"]),
  delete: definition("delete", "Deletes a memory file and its description.", { file_name: FILE_NAME }, ["file_name"]),
  ls: definition("ls", "Lists the memory files with their descriptions.", { glob_pattern: GLOB }, []),
  grep: definition(
    "grep",
    "Finds the lines of memory files that match a regular expression, whatever their case. The line numbers are those that file_memory_replace_lines takes.",
    {
      regex_pattern: {
        type: "string",
        description: "A regular expression of at most 256 characters, without look-around and back-references.",
      },
      glob_pattern: GLOB,
    },
    ["regex_pattern"],
  ),
  replace: definition(
    "replace",
    "Replaces a text in a memory file. The text must occur exactly once, unless replace_all is true.",
    {
      file_name: FILE_NAME,
      old_string: { type: "string", description: "The text to replace, exactly as it stands in the file." },
      new_string: { type: "string", description: "What to put in its place." },
      replace_all: { type: "boolean", description: "Replace it wherever it occurs. Default: false." },
    },
    ["file_name", "old_string", "new_string"],
  ),
  replaceLines: definition(
    "replace_lines",
    "Replaces whole lines of a memory file. All line numbers are those of the file as it is now.",
    {
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
    ["file_name", "edits"],
  ),
};
