import { rmSync } from "node:fs";
import { access, constants, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { SingleBar } from "cli-progress";
import { BACKENDS } from "./backends/index.ts";
import type { Plan } from "./blocks.ts";
import { BenchmarkError, UsageError } from "./errors.ts";
import { HOME } from "./folders.ts";
import { loadPeers } from "./install-peers.ts";
import { measure } from "./measure.ts";
import type { ShownRow, Sizes } from "./measurement.ts";
import { helpText, type Options, parseOptions } from "./options.ts";
import { seededRandom } from "./random.ts";
import { jsonReport, tableLines, thisMachine } from "./report.ts";

const SIZES: Sizes = { messages: 1000, manyMessages: 100_000, conversations: 64, items: 20_000 };
const FULL: Plan = { runs: 5, blocks: 15, samples: 5, blockMs: 20, warmUpMs: 3000 };
const QUICK: Plan = { runs: 3, blocks: 5, samples: 2, blockMs: 5, warmUpMs: 500 };

try {
  const options = parseOptions(process.argv.slice(2), BACKENDS);
  if (options.help) {
    print(helpText(BACKENDS));
  } else {
    await bench(options);
  }
} catch (error) {
  process.exitCode = error instanceof UsageError ? 2 : 1;
  const isExplained = error instanceof UsageError || error instanceof BenchmarkError;
  const text = error instanceof Error ? (isExplained ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`bench: ${text}\n`);
}

async function bench(options: Options): Promise<void> {
  await assertWritable(options.jsonFile);
  const peers = options.peers ? await loadPeers(print) : [];
  const plan = options.quick ? QUICK : FULL;
  const machine = thisMachine();
  print(`Node ${machine.node}, ${machine.cpuCount} x ${machine.cpuModel}`);
  print(`${plan.runs} runs of ${plan.blocks} blocks for each contender; --seed ${options.seed} repeats their order.`);
  const rows = await measureAll(options, { plan, sizes: SIZES, peers, random: seededRandom(options.seed) });
  print();
  for (const line of tableLines(rows)) {
    print(line);
  }
  if (options.jsonFile !== undefined) {
    await writeFile(options.jsonFile, jsonReport({ quick: options.quick, seed: options.seed, runs: plan.runs }, rows));
  }
}

type Settings = Omit<Parameters<typeof measure>[1], "scratch">;

async function measureAll({ selection }: Options, settings: Settings): Promise<ShownRow[]> {
  const scratch = join(HOME, ".cache", `run-${process.pid}`);
  const interrupt = () => {
    rmSync(scratch, { recursive: true, force: true });
    process.exit(130);
  };
  process.once("SIGINT", interrupt);
  const bar = new SingleBar({ format: "{bar} {value}/{total} {name}", hideCursor: true, clearOnComplete: true });
  if (process.stderr.isTTY) {
    bar.start(selection.length, 0, { name: "" });
  }
  const rows: ShownRow[] = [];
  try {
    for (const selected of selection) {
      bar.update({ name: `${selected.backend.name}/${selected.job}` });
      rows.push(...(await measure(selected, { ...settings, scratch })));
      bar.increment();
    }
  } finally {
    bar.stop();
    rmSync(scratch, { recursive: true, force: true });
    process.off("SIGINT", interrupt);
  }
  return rows;
}

/** Found out now, not after the minutes that a measurement takes. */
async function assertWritable(file: string | undefined): Promise<void> {
  if (file !== undefined) {
    await access(dirname(resolve(file)), constants.W_OK).catch((cause: unknown) => {
      throw new BenchmarkError(`--json ${file} cannot be written`, { cause });
    });
  }
}

function print(line = ""): void {
  process.stdout.write(`${line}\n`);
}
