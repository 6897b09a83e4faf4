import { APPEND } from "./append-script.ts";
import { PAGE } from "./read-scripts.ts";
import { REPLACE } from "./replace-script.ts";
import type { Script } from "./script.ts";
import type { ScriptName } from "./script-call.ts";
import { CLEAR } from "./write-scripts.ts";

/** The scripts that calls ask for by their names. */
export const SCRIPTS: Readonly<Record<ScriptName, Script>> = {
  append: APPEND,
  clear: CLEAR,
  page: PAGE,
  replace: REPLACE,
};
