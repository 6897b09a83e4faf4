import {
  type Attributes,
  context,
  createNoopMeter,
  isSpanContextValid,
  type MeterProvider,
  metrics,
  SpanKind,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { createInstruments, type Instruments } from "./instruments.ts";
import { Operation, type Outcome, quietly } from "./operation.ts";
import type { TelemetrySettings } from "./options.ts";
import { type RunState, withRunState } from "./run-state.ts";

const SCOPE = "@agentfw/otel";
const SCHEMA = { schemaUrl: "https://opentelemetry.io/schemas/1.41.0" };

/** What to begin; see {@link Recorder.begin}. */
export interface Beginning {
  readonly name: string;
  /** Of the model service, which is elsewhere, or of what happens in this process. */
  readonly kind: "client" | "internal";
  /** Known from the start, so that samplers see them. */
  readonly attributes: Attributes;
  readonly signal?: AbortSignal | undefined;
  /** For a run: what is known about it to all that it is made of. */
  readonly runState?: RunState | undefined;
  readonly measure: (outcome: Outcome) => void;
}

/** Begins operations with whatever is registered at that moment. */
export class Recorder {
  readonly settings: TelemetrySettings;
  #tracer: Tracer | undefined;
  #meterProvider: MeterProvider | undefined;
  #instruments: Instruments | undefined;

  constructor(settings: TelemetrySettings) {
    this.settings = settings;
  }

  /** What measures are taken with; `undefined` while no SDK is there to take them. */
  get instruments(): Instruments | undefined {
    const provider = this.settings.meterProvider ?? metrics.getMeterProvider();
    // Unlike a tracer, a meter that was made before its SDK stays without effect.
    if (provider !== this.#meterProvider) {
      const meter = provider.getMeter(SCOPE, undefined, SCHEMA);
      this.#instruments = meter === createNoopMeter() ? undefined : createInstruments(meter);
      this.#meterProvider = provider;
    }
    return this.#instruments;
  }

  /** Begins an operation inside of the one that the caller is in; `undefined` when nobody watches. */
  begin(beginning: Beginning): Operation | undefined {
    return quietly(() => {
      const parent = context.active();
      const { name, kind, attributes, signal, runState, measure } = beginning;
      const { captureErrors } = this.settings;
      const spanKind = kind === "client" ? SpanKind.CLIENT : SpanKind.INTERNAL;
      const span = this.#spans().startSpan(name, { kind: spanKind, attributes }, parent);
      const { instruments } = this;
      if (instruments === undefined && !isSpanContextValid(span.spanContext())) {
        return undefined;
      }
      const inside = trace.setSpan(parent, span);
      return new Operation({
        span,
        context: runState === undefined ? inside : withRunState(inside, runState),
        instruments,
        captureErrors,
        signal,
        measure,
      });
    });
  }

  #spans(): Tracer {
    this.#tracer ??= (this.settings.tracerProvider ?? trace).getTracer(SCOPE, undefined, SCHEMA);
    return this.#tracer;
  }
}
