import type { Peer } from "./peer.ts";

/** What is measured, in the order in which it is shown. */
export const JOBS = [
  "append-turn",
  "load-last-20",
  "load-last-20-of-100000",
  "concurrent-64",
  "state-set",
  "state-get",
  "memory-context",
  "memory-grep",
  "memory-write",
  "run-overhead",
  "import",
] as const;

export type Job = (typeof JOBS)[number];

interface Named {
  /** `raw`, `agentfw` with what is special about it, or a peer's name. */
  readonly name: string;
  /** Gives back what the contender holds. */
  readonly close?: (() => Promise<void>) | undefined;
}

/** Something that is timed in blocks of operations, one after another. */
export interface Operation extends Named {
  /** Makes ready for a block. Not timed. */
  readonly prepare?: (() => Promise<void> | void) | undefined;
  /** One operation. A promise is waited for before the next one begins. */
  readonly operation: () => unknown;
  /** At most this many operations in a block, so that what grows with them stays as it was said to be. @default 10,000 */
  readonly maxOperations?: number | undefined;
  /** Runs one operation and counts its round trips, where that can be done. Called after everything has been timed. */
  readonly countRoundTrips?: (() => Promise<number>) | undefined;
  /** Runs some operations and counts the bytes that the server's write-ahead log grows by for one. Called after that. */
  readonly countLogBytes?: (() => Promise<number>) | undefined;
}

/** Something that is timed elsewhere, in a process of its own for example. */
export interface Sample extends Named {
  /** The microseconds of one operation. A block is one of these. */
  readonly sample: () => Promise<number>;
}

export type Contender = Operation | Sample;

/** How large things are. */
export interface Sizes {
  /** Messages in the conversation of `append-turn` and `load-last-20`. */
  readonly messages: number;
  /** Messages in the conversation of `load-last-20-of-100000`. */
  readonly manyMessages: number;
  /** Conversations in `concurrent-64`. */
  readonly conversations: number;
  /** Items beside the one of `state-set` and `state-get`. */
  readonly items: number;
}

/** What a job is opened with. */
export interface JobContext {
  readonly sizes: Sizes;
  /** An empty folder on a disk, which is removed afterwards. */
  readonly directory: string;
  readonly peers: readonly Peer[];
}

/** A job that is ready to be measured. The first contender is `raw`, which all others are compared with. */
export interface OpenJob {
  readonly contenders: readonly Contender[];
  /** Gives back what the job holds, after its contenders have done so. */
  close?(): Promise<void>;
}

/**
 * Something that is measured in one or more jobs. To add one: a file in `backends/` with one of these, and a line in
 * `backends/index.ts`.
 */
export interface Backend {
  readonly name: string;
  readonly jobs: Readonly<Partial<Record<Job, (context: JobContext) => Promise<OpenJob>>>>;
}

/** One measurement, as it is written to the JSON file. */
export interface Row {
  readonly backend: string;
  readonly job: Job;
  readonly contender: string;
  readonly medianMicroseconds: number;
  /** Against `raw` of the same backend and job, in the same run: the median over the runs, and the extremes. */
  readonly ratioToRaw: number;
  readonly ratioMin: number;
  readonly ratioMax: number;
  /** For one operation; `null` where nothing can be counted. */
  readonly roundTrips: number | null;
}

/** A row with what is only shown. */
export interface ShownRow extends Row {
  readonly aboveRawMicroseconds: number;
  /** What a server's write-ahead log grows by for one operation; `null` where there is none. */
  readonly logBytes: number | null;
}
