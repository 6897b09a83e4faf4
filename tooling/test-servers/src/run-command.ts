import { spawn } from "node:child_process";

/** How a command ended: `code` is undefined when it could not be started or was killed. */
export interface CommandResult {
  readonly code: number | undefined;
  /** What it wrote, both streams together. */
  readonly output: string;
}

/** Runs a command to its end; never rejects. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    let output = "";
    const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (text: string) => {
        output += text;
      });
    }
    child.on("error", (error) => resolve({ code: undefined, output: output + error.message }));
    child.on("close", (code) => resolve({ code: code ?? undefined, output }));
  });
}
