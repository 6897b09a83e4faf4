export { __class__ } from "./__file__.ts";
export type { __class__Options } from "./options.ts";
