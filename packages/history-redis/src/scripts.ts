import { APPEND } from "./append-script.ts";
import { PAGE } from "./read-scripts.ts";
import { REPLACE } from "./replace-script.ts";
import type { Script } from "./script.ts";
import { CLEAR } from "./write-scripts.ts";

/** Names a script, whose text is loaded later than a call may be made. */
export type ScriptName = "append" | "clear" | "page" | "replace";

/** The scripts that calls ask for by their names. */
export const SCRIPTS: Readonly<Record<ScriptName, Script>> = {
  append: APPEND,
  clear: CLEAR,
  page: PAGE,
  replace: REPLACE,
};
