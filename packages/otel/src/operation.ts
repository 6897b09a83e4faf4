import { type Attributes, type Context, context, diag, type Span, SpanStatusCode } from "@opentelemetry/api";
import { ATTRIBUTE } from "./attributes.ts";
import { errorType } from "./error-type.ts";
import type { Instruments } from "./instruments.ts";

/** How an operation ended. */
export interface Outcome {
  readonly seconds: number;
  /** `undefined` after success. */
  readonly errorType: string | undefined;
  readonly instruments: Instruments;
}

/** What an operation is made of; see {@link Operation}. */
export interface OperationInit {
  readonly span: Span;
  readonly context: Context;
  readonly instruments: Instruments | undefined;
  readonly captureErrors: boolean;
  readonly signal: AbortSignal | undefined;
  /** Records how it ended. */
  readonly measure: (outcome: Outcome) => void;
}

/** Something that takes time and is watched: a span, the context inside of it, and its measurements. Ends once. */
export class Operation {
  readonly context: Context;
  readonly instruments: Instruments | undefined;
  readonly #init: OperationInit;
  readonly #startedAt = performance.now();
  #isOver = false;

  constructor(init: OperationInit) {
    this.#init = init;
    this.context = init.context;
    this.instruments = init.instruments;
  }

  /** False when nobody will see the attributes. */
  get isRecording(): boolean {
    return this.#init.span.isRecording();
  }

  /** Seconds since it began. */
  get seconds(): number {
    return (performance.now() - this.#startedAt) / 1000;
  }

  /** Runs code inside: what it begins, now or later, belongs to this operation. */
  run<T>(code: () => T): T {
    return context.with(this.context, code);
  }

  set(attributes: Attributes): void {
    this.#init.span.setAttributes(attributes);
  }

  /** Ends it as a success. */
  end(): void {
    this.#end(undefined, undefined);
  }

  /** Ends it as a failure. */
  fail(error: unknown): void {
    this.#end(errorType(error, this.#init.signal), error);
  }

  #end(type: string | undefined, error: unknown): void {
    if (this.#isOver) {
      return;
    }
    this.#isOver = true;
    const { span, instruments, measure, captureErrors } = this.#init;
    quietly(() => {
      if (type !== undefined) {
        span.setAttribute(ATTRIBUTE.errorType, type);
        const isTold = captureErrors && error instanceof Error;
        span.setStatus(
          isTold ? { code: SpanStatusCode.ERROR, message: error.message } : { code: SpanStatusCode.ERROR },
        );
        if (isTold) {
          span.recordException(error);
        }
      }
      span.end();
      if (instruments !== undefined) {
        measure({ seconds: this.seconds, errorType: type, instruments });
      }
    });
  }
}

/** Watching never changes an outcome: what goes wrong in it is told to OpenTelemetry's own log. */
export function quietly<T>(code: () => T): T | undefined {
  try {
    return code();
  } catch (error) {
    diag.error("@agentfw/otel could not record an operation", error);
    return undefined;
  }
}
