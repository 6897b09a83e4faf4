import { createHash, randomBytes } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { systemCode } from "@agentfw/core/backend";
import { unless } from "./file-calls.ts";

/**
 * Who writes: `<space>.<process id>.<start>.<random>`. The space is the machine since its last boot together with the
 * process namespace, so that a process id of another container is never mistaken for one of ours.
 */
const IDENTITY = /^([0-9a-f]{16})\.([1-9][0-9]{0,9})\.([0-9]{1,20})\.([0-9a-f]{16})$/;

/**
 * How a system says that it has no such thing or shows it to nobody. Whatever else goes wrong passes, and is an error:
 * a process that took itself for another one for the rest of its life would be a stranger to its own neighbors.
 */
const HIDDEN: readonly string[] = ["ENOENT", "ENOTDIR", "ESRCH", "EACCES", "EPERM"];

/** What can be told of a writer: proven to run, proven to have ended, or neither. */
export type Liveness = "alive" | "dead" | "unknown";

interface Self {
  readonly space: string;
  /** When this process started, in the system's own ticks; "0" where that cannot be read. */
  readonly start: string;
}

let self: Promise<Self> | undefined;

/** A new identity of this process, different with every call. */
export async function newIdentity(): Promise<string> {
  const { space, start } = await ownSelf();
  return `${space}.${process.pid}.${start}.${randomBytes(8).toString("hex")}`;
}

/** The random part of an identity, or undefined when the text is none. */
export function randomPart(identity: string): string | undefined {
  return IDENTITY.exec(identity)?.[4];
}

/**
 * Whether the process behind `identity` still runs. "dead" is certain; "alive" is certain too, because the start time
 * tells a process id that was given away again. Another container, or a system without start times, is "unknown".
 */
export async function livenessOf(identity: string): Promise<Liveness> {
  const [, space, pid = "", start] = IDENTITY.exec(identity) ?? [];
  const own = await ownSelf();
  if (space !== own.space) {
    return "unknown";
  }
  const found = await startOf(pid);
  if (found === "ended") {
    return "dead";
  }
  if (found === undefined || start === "0") {
    return isRunning(Number(pid)) ? "unknown" : "dead";
  }
  return found === start ? "alive" : "dead";
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== "ESRCH";
  }
}

/** The start of a process in ticks since boot; "ended" for one that waits to be reaped; undefined where it is hidden. */
async function startOf(pid: string): Promise<string | undefined> {
  const text = await unless(HIDDEN, readFile(`/proc/${pid}/stat`, "latin1"));
  if (text === undefined) {
    return undefined;
  }
  // The second field is the program's name in parentheses and may hold anything, parentheses included.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? "ended" : fields[19];
}

function ownSelf(): Promise<Self> {
  self ??= readSelf().catch((error: unknown) => {
    self = undefined;
    throw error;
  });
  return self;
}

async function readSelf(): Promise<Self> {
  const start = await startOf("self");
  const place = await namespaceOfProcesses();
  const space = createHash("sha256").update(place).digest("hex").slice(0, 16);
  return { space, start: start === undefined || start === "ended" ? "0" : start };
}

async function namespaceOfProcesses(): Promise<string> {
  const boot = await unless(HIDDEN, readFile("/proc/sys/kernel/random/boot_id", "latin1"));
  const namespace = await unless(HIDDEN, readlink("/proc/self/ns/pid"));
  // Not Linux: there is one process namespace on the machine.
  return boot === undefined || namespace === undefined ? hostname() : `${boot} ${namespace}`;
}
