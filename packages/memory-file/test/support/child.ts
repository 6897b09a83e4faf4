import fs from "node:fs";
import { FileSystemFileStore } from "../../src/index.ts";
import { newIdentity } from "../../src/writer-identity.ts";
import { checked } from "./checked.ts";
import { beginOn } from "./memory.ts";

/** What a child process is told on its command line. */
export interface ChildTask {
  readonly job: "write" | "count" | "fill" | "hold" | "starve";
  readonly root: string;
  readonly name: string;
  /** The number of the first write. */
  readonly from?: number;
  readonly times?: number;
  readonly fsync?: boolean;
  readonly maxFiles?: number;
  /** How many files the process may have open. */
  readonly openFiles?: number;
}

const task: ChildTask = JSON.parse(process.argv[2] ?? "");
const { job, root, name, from = 0, times = 1, fsync = false, maxFiles } = task;
const store = new FileSystemFileStore(root, { fsync, maxFiles, timeoutMs: 60_000 });
const run = await beginOn(store);

/** Reaches the parent even if the process is killed right afterwards. */
function tell(text: string): void {
  fs.writeSync(1, `${text}\n`);
}

/** Writes files over and over, and tells each write that was acknowledged. */
async function write(): Promise<void> {
  for (let number = from; number < from + times; number += 1) {
    const answer = await run.call("write", {
      file_name: `file-${number % 7}.md`,
      content: checked(number),
      description: `number ${number}`,
    });
    tell(`${String(answer).startsWith("Saved") ? "wrote" : answer} ${number}`);
  }
}

/** Adds to one file with each replacement, whoever else does the same. */
async function count(): Promise<void> {
  for (let number = 0; number < times; number += 1) {
    for (;;) {
      const args = { file_name: "count.md", old_string: "end", new_string: `${name}-${number} end` };
      if (String(await run.call("replace", args)).startsWith("Replaced")) {
        break;
      }
    }
  }
}

/** Makes files until there is no room. */
async function fill(): Promise<void> {
  for (let number = 0; number < times; number += 1) {
    const answer = await run.call("write", { file_name: `${name}-${number}.md`, content: "x" });
    tell(String(answer).startsWith("Saved") ? "saved" : "refused");
  }
}

/** Takes the lock of the scope and never gives it back. */
async function hold(): Promise<void> {
  const { rename } = fs;
  Object.assign(fs, {
    rename(source: string, target: string, done: (error: Error | null) => void) {
      if (target.endsWith("held.md")) {
        tell("holding");
        setInterval(() => undefined, 1_000);
      } else {
        rename(source, target, done);
      }
    },
  });
  await run.call("write", { file_name: "held.md", content: "x" });
}

/** Writes with no file left to open, then with one, and so on until it works. */
async function starve(): Promise<void> {
  const taken: number[] = [];
  try {
    for (;;) {
      taken.push(fs.openSync("/dev/null", "r"));
    }
  } catch {
    // There is no more.
  }
  for (let answer = ""; !answer.startsWith("Saved"); ) {
    answer = String(await run.call("write", { file_name: "a.md", content: "x" }));
    tell(answer);
    for (const descriptor of taken.splice(0, 1)) {
      fs.closeSync(descriptor);
    }
  }
  tell(`identity ${await newIdentity()}`);
}

await { write, count, fill, hold, starve }[job]();
await store.close();
