import { dollarQuoted } from "./names.ts";

/** A function's text, in PL/pgSQL. */
export interface FunctionBody {
  readonly returns: string;
  readonly body: string;
  /** Further properties, for example `STABLE`. */
  readonly properties?: string | undefined;
}

/** The statement that creates a function, or changes it into this one. */
export function functionDefinition(
  name: string,
  parameters: string,
  { returns, body, properties = "" }: FunctionBody,
): string {
  const head = `CREATE OR REPLACE FUNCTION ${name}(\n  ${parameters}\n) RETURNS ${returns} LANGUAGE plpgsql`;
  return `${head}${properties === "" ? "" : ` ${properties}`} AS ${dollarQuoted(`${body}\n`)}`;
}
