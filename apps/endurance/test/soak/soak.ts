import type { Place } from "./places.ts";
import { chance, type Job, type Mishap, type SessionHabits, type Told } from "./protocol.ts";
import { Worker } from "./worker.ts";

const KINDS: readonly Mishap["kind"][] = [
  "none",
  "none",
  "none",
  "abort",
  "abort-in-write",
  "leave",
  "kill",
  "kill-in-write",
  "outage",
  "cut",
  "lost-reply",
  "silent-store",
  "model-error",
];

/** What is known of one conversation. */
export interface SoakedSession {
  readonly name: string;
  readonly habits: SessionHabits;
  /** Messages that a successful run was given or gave, by id, and the run that said so first. */
  readonly acknowledged: Map<string, string>;
  /** How often the tool of each call ran, by idempotency key. */
  readonly effects: Map<string, number>;
  /** Requests for approval that nobody has answered in a run that succeeded. */
  readonly requests: Set<string>;
}

/** Everything that a soak came to. */
export interface Soak {
  readonly sessions: readonly SoakedSession[];
  readonly outcomes: Map<string, number>;
  /** The same by what went wrong: `none`, or the kind of mishap that a run came to. */
  readonly byMishap: Map<string, Map<string, number>>;
  /** Requests that a strict service would have refused, and rejections that nobody heard of. */
  readonly faults: string[];
  kills: number;
}

export interface SoakOptions {
  readonly program: string;
  readonly place: Place;
  readonly seed: number;
  readonly runs: number;
  readonly sessions: number;
  readonly workers: number;
}

/** Runs jobs over all sessions in several processes, each run with a mishap or none, and tried again when it failed. */
export async function soak(options: SoakOptions): Promise<Soak> {
  const random = chance(options.seed);
  const result: Soak = {
    sessions: newSessions(options.sessions, random),
    outcomes: new Map(),
    byMishap: new Map(),
    faults: [],
    kills: 0,
  };
  let started = 0;
  let current: SoakedSession | undefined;
  const work = async (): Promise<void> => {
    let session: SoakedSession | undefined;
    let answer: Told | undefined;
    let mishap = "none";
    let job: Job | undefined;
    const worker = new Worker(options.program, options.place, (told) => {
      // A tool that an aborted run left behind may still tell of itself.
      answer = told.type === "done" || told.type === "failed" ? told : answer;
      mishap = told.type === "mishap" ? told.kind : mishap;
      hear(told, session, result, `${JSON.stringify(job)} ${mishap}`);
    });
    while (started < options.runs) {
      // Now and then two processes meet on one conversation.
      session = random(3) === 0 && current !== undefined ? current : pick(result.sessions, random);
      current = session;
      const isNamed = random(5) > 0;
      const name = `run${started}`;
      const answers = answersOf(session, random);
      for (let attempt = 1; attempt <= 3 && started < options.runs; attempt += 1) {
        started += 1;
        answer = undefined;
        mishap = "none";
        job = newJob(session, { name, isNamed, attempt, answers, random });
        const outcome = await worker.run(job);
        note(result, mishap, outcome === "killed" ? "killed" : outcomeOf(answer));
        if (outcome === "ended" && isDone(answer)) {
          answers.forEach(({ id }) => void session?.requests.delete(id));
          break;
        }
        if (!isNamed || random(5) === 0) {
          break;
        }
      }
    }
    await worker.stop();
    result.kills += worker.kills;
  };
  await Promise.all(Array.from({ length: options.workers }, work));
  return result;
}

function newSessions(count: number, random: (below: number) => number): SoakedSession[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `session-${index}`,
    habits: {
      historyPersistence: random(3) === 0 ? "per-run" : "per-service-call",
      conditionalAppend: random(2) === 0,
      keepPartial: random(2) === 0,
      maxMessages: random(3) === 0 ? 3 + random(20) : undefined,
      repeatsCallIds: random(3) === 0,
    },
    acknowledged: new Map<string, string>(),
    effects: new Map<string, number>(),
    requests: new Set<string>(),
  }));
}

interface JobParts {
  readonly name: string;
  readonly isNamed: boolean;
  readonly attempt: number;
  readonly answers: Job["answers"];
  readonly random: (below: number) => number;
}

function newJob(session: SoakedSession, { name, isNamed, attempt, answers, random }: JobParts): Job {
  const kind = KINDS[random(KINDS.length)] ?? "none";
  const runId = isNamed ? name : undefined;
  return {
    session: session.name,
    habits: session.habits,
    runId,
    inputId: isNamed ? `${name}:i0` : `${name}-${attempt}`,
    answers,
    seed: random(2 ** 31),
    isStreamed: random(2) === 0,
    mishap: { kind, at: 1 + random(18) },
  };
}

/** The user answers what he is asked, sooner or later; what stands open meanwhile hides from the model. */
function answersOf({ requests }: SoakedSession, random: (below: number) => number): Job["answers"] {
  return random(3) === 0 ? [] : [...requests].map((id) => ({ id, approved: random(4) > 0 }));
}

function hear(told: Told, session: SoakedSession | undefined, result: Soak, run: string): void {
  if (told.type === "refused") {
    result.faults.push(`${session?.name}: ${told.fault}`);
  } else if (told.type === "unheard") {
    result.faults.push(`${session?.name}: nobody heard of ${told.error}`);
  } else if (told.type === "retried") {
    count(result.outcomes, `after a conflict: ${told.how}`);
  } else if (told.type === "effect") {
    const owner = result.sessions.find(({ name }) => name === told.session);
    count(owner?.effects ?? new Map(), told.key);
  } else if (told.type === "done" && !told.withoutHistory) {
    for (const id of told.ids) {
      const known = session?.acknowledged.get(id);
      session?.acknowledged.set(id, known ?? `${run}, which reported ${told.reported.join() || "nothing"}`);
    }
    for (const id of told.requests) {
      session?.requests.add(id);
    }
  }
}

function isDone(told: Told | undefined): boolean {
  return told?.type === "done";
}

function outcomeOf(told: Told | undefined): string {
  if (told?.type === "failed") {
    return `failed: ${told.error.slice(0, 100)}`;
  }
  return told?.type === "done" && told.withoutHistory ? "done without history" : (told?.type ?? "nothing");
}

function pick(sessions: readonly SoakedSession[], random: (below: number) => number): SoakedSession {
  const chosen = sessions[random(sessions.length)];
  if (chosen === undefined) {
    throw new RangeError("a soak needs sessions");
  }
  return chosen;
}

function note({ outcomes, byMishap }: Soak, mishap: string, outcome: string): void {
  count(outcomes, outcome);
  const counts = byMishap.get(mishap) ?? new Map<string, number>();
  byMishap.set(mishap, counts);
  count(counts, outcome);
}

/** What a soak came to, in lines for a person. */
export function summary({ outcomes, byMishap, kills }: Soak): string {
  const lines = (counts: ReadonlyMap<string, number>) =>
    [...counts].sort(([, left], [, right]) => right - left).map(([name, number]) => `${number} ${name}`);
  const parts = [...byMishap].sort().flatMap(([mishap, counts]) => {
    const sum = [...counts.values()].reduce((total, number) => total + number, 0);
    return [`${sum} with ${mishap}`, ...lines(counts).map((line) => `    ${line}`)];
  });
  return [...parts, ...lines(outcomes).filter((line) => line.includes("after a conflict")), `${kills} kills`].join(
    "\n",
  );
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
