import type { ContractPort } from "./clause.ts";
import type { SubjectKind } from "./cli-kinds.ts";
import type { ClauseReport } from "./report.ts";

/** What the process that runs the clauses is told. */
export interface RunRequest {
  readonly file: string;
  readonly kind: SubjectKind | undefined;
  readonly only: readonly string[] | undefined;
  readonly limits: RunLimits;
}

/** How long each part of a run may take, in milliseconds. */
export interface RunLimits {
  readonly loadMs: number;
  readonly openMs: number;
  readonly clauseMs: number;
}

/** A contract of a run, before any of its clauses ended. */
export interface SuiteHead {
  readonly name: string;
  readonly port: ContractPort;
}

/** What happens in a run, told in order by the process that runs the clauses. */
export type RunEvent =
  | { readonly type: "loading" }
  | { readonly type: "opening"; readonly suites: readonly SuiteHead[] }
  | { readonly type: "suite"; readonly index: number }
  | { readonly type: "clause"; readonly id: string; readonly title: string }
  | { readonly type: "result"; readonly clause: ClauseReport }
  /** The process reacts: told once a second. */
  | { readonly type: "alive" }
  /** The file cannot be used, or the command was called the wrong way. */
  | { readonly type: "refused"; readonly message: string }
  /** Something was thrown that nobody caught. */
  | { readonly type: "uncaught"; readonly text: string }
  /** What is open is being closed, because it was asked to end, by whom this says. */
  | { readonly type: "closing"; readonly askedBy: string | undefined }
  /** The process is ending; `at` is where it was told to. */
  | { readonly type: "exit"; readonly code: number; readonly at: string | undefined }
  /** Every clause has ended. `strays` are rejections that nobody waited for. */
  | { readonly type: "done"; readonly strays: readonly string[] };

/** Takes what happens in a run. */
export type Emit = (event: RunEvent) => void;

/** The file descriptors that the two processes share: what happens, one way, and the wish to end, the other way. */
export const CHANNELS = { events: 3, control: 4 } as const;
