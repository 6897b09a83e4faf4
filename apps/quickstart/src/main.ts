import { ExplainedError, explain, UsageError } from "./errors.ts";
import { helpText, type Options, parseOptions } from "./options.ts";
import { complain, print } from "./terminal.ts";

/** Each mode in a module of its own, loaded when it is asked for. */
const MODES: Readonly<Record<Options["mode"], (options: Options) => Promise<number>>> = {
  help: async () => {
    print(helpText());
    return 0;
  },
  demo: async (options) =>
    options.memory
      ? (await import("./demo-memory.ts")).demonstrateMemory(options)
      : (await import("./demo.ts")).demonstrate(options),
  say: async (options) => (await import("./say.ts")).say(options),
  chat: async (options) => (await import("./chat.ts")).chat(options),
  transcripts: async (options) => (await import("./transcripts/transcripts.ts")).replayTranscripts(options),
  sql: async (options) => (await import("./sql.ts")).runSql(options),
  verify: async () => (await import("./transcripts/verify.ts")).verifyFromStandardInput(),
};

// Whoever reads the output may stop reading, `head` for example.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

try {
  const options = parseOptions(process.argv.slice(2));
  process.exitCode = await MODES[options.mode](options);
} catch (error) {
  process.exitCode = error instanceof UsageError ? 2 : 1;
  complain(`quickstart: ${explain(error)}`);
  if (error instanceof UsageError) {
    complain("npm run quickstart -- --help shows the options.");
  } else if (!(error instanceof ExplainedError) && process.env["DEBUG"] !== undefined) {
    complain(error instanceof Error ? (error.stack ?? "") : "");
  }
}
