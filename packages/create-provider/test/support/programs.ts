import { execFile } from "node:child_process";

/** How a program ended. */
export interface Ended {
  readonly code: number;
  readonly output: string;
}

/** Runs a program in a folder, as a person would who has nothing to do with this workspace. */
export function run(
  command: string,
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const options = {
      cwd,
      env: { ...plainEnvironment(), ...environment },
      maxBuffer: 64_000_000,
      shell: process.platform === "win32",
    };
    execFile(command, args, options, (error, stdout, stderr) => {
      const code = typeof error?.code === "number" ? error.code : error ? -1 : 0;
      resolve({ code, output: stdout + stderr });
    });
  });
}

/** Runs a program that has to succeed, and gives its output. */
export async function must(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { code, output } = await run(command, args, cwd);
  if (code !== 0) {
    throw new Error(`${command} ${args.join(" ")} ended with ${code}:\n${output}`);
  }
  return output;
}

/** Without what the package manager, the task runner and the test runner around this test have set. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|pnpm_|VITEST|TURBO|NODE_ENV$|NODE_OPTIONS$|FORCE_COLOR$|TEST$|VITE_)/i.test(name),
  );
  return { ...Object.fromEntries(kept), NO_COLOR: "1", npm_config_update_notifier: "false" };
}
