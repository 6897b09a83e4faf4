import { parseArgs } from "node:util";
import { UsageError } from "./errors.ts";
import { type Backend, JOBS, type Job } from "./measurement.ts";

/** The command line, checked. */
export interface Options {
  readonly help: boolean;
  readonly quick: boolean;
  readonly peers: boolean;
  readonly jsonFile: string | undefined;
  readonly seed: number;
  /** What is measured: pairs of a backend and one of its jobs. */
  readonly selection: readonly Selected[];
}

/** One thing to measure. */
export interface Selected {
  readonly backend: Backend;
  readonly job: Job;
}

const HELP = [
  ["only", "NAME", "Only this backend, this job, or this BACKEND/JOB. May be given more than once."],
  ["quick", "", "Small samples, in about half a minute. Good for a look, not for a comparison."],
  ["json", "FILE", "Also write the rows, and what the machine is, to this file."],
  ["peers", "", "Also measure other libraries; installs them into a folder of their own the first time."],
  ["seed", "NUMBER", "Draw the order of the blocks as an earlier run did."],
  ["help", "", "Show this."],
] as const;

/** What `--help` shows. */
export function helpText(backends: readonly Backend[]): string {
  const rows = HELP.map(([name, value, text]) => `  ${`--${name} ${value}`.padEnd(16)} ${text}`);
  const pairs = backends.map(({ name, jobs }) => `  ${name.padEnd(16)} ${JOBS.filter((job) => jobs[job]).join(", ")}`);
  return `Measures agentfw beside what one would write by hand, and beside its peers.

  npm run bench -- OPTIONS

${rows.join("\n")}

Backends and their jobs
${pairs.join("\n")}

Exit codes: 0 it went well, 1 something could not be measured, 2 the command line makes no sense.`;
}

/** Parses the command line. @throws UsageError */
export function parseOptions(
  args: readonly string[],
  backends: readonly Backend[],
  environment: NodeJS.ProcessEnv = process.env,
): Options {
  assertNpmPassedOptions(args, environment);
  const { only = [], json, seed, ...flags } = parsed(args);
  if (json === "") {
    throw new UsageError("--json needs the name of a file");
  }
  return {
    help: flags.help ?? flags.h ?? false,
    quick: flags.quick ?? false,
    peers: flags.peers ?? false,
    jsonFile: json,
    seed: seed === undefined ? Math.floor(Math.random() * 1_000_000) : parseSeed(seed),
    selection: select(only, backends),
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      strict: true,
      options: {
        only: { type: "string", multiple: true },
        quick: { type: "boolean" },
        json: { type: "string" },
        peers: { type: "boolean" },
        seed: { type: "string" },
        help: { type: "boolean" },
        h: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    const [reason = "the command line makes no sense"] = error instanceof Error ? error.message.split(/[\n.]/) : [];
    throw new UsageError(reason);
  }
}

/** `npm run bench --quick` gives the option to npm, which drops it; everything would be measured instead. */
function assertNpmPassedOptions(args: readonly string[], environment: NodeJS.ProcessEnv): void {
  const taken = ["only", "quick", "peers", "seed"].find((name) => environment[`npm_config_${name}`]);
  if (args.length === 0 && taken !== undefined) {
    throw new UsageError(`npm kept --${taken} for itself; write two dashes before it: npm run bench -- --${taken}`);
  }
}

function parseSeed(text: string): number {
  const seed = Number(text);
  if (text === "" || !Number.isSafeInteger(seed) || seed < 0) {
    throw new UsageError("--seed must be a whole number");
  }
  return seed;
}

function select(only: readonly string[], backends: readonly Backend[]): Selected[] {
  const all = backends.flatMap((backend) =>
    JOBS.filter((job) => backend.jobs[job] !== undefined).map((job) => ({ backend, job })),
  );
  const names = ({ backend, job }: Selected) => [backend.name, job, `${backend.name}/${job}`];
  for (const name of only) {
    if (!all.some((pair) => names(pair).includes(name))) {
      throw new UsageError(`--only ${name} is no backend, no job and no BACKEND/JOB; --help lists them`);
    }
  }
  return only.length === 0 ? all : all.filter((pair) => names(pair).some((name) => only.includes(name)));
}
