import { assertName, assertObject, configurationError } from "@agentfw/core";
import type { MeterProvider, TracerProvider } from "@opentelemetry/api";

/** Options of `Telemetry`. Everything that tells of people or of what was said is off until it is asked for. */
export interface TelemetryOptions {
  /** Put what was said into spans: messages, instructions, tools with their arguments and results. @default false */
  readonly captureContent?: boolean | undefined;
  /** Put the messages and stacks of errors into spans. They may quote what a service or a driver was sent. @default false */
  readonly captureErrors?: boolean | undefined;
  /** Put session ids, run ids, state keys and file paths into spans, never into metrics. @default false */
  readonly captureIds?: boolean | undefined;
  /** Put the owners of sessions and stored things into spans as `enduser.id`, never into metrics. @default false */
  readonly captureOwner?: boolean | undefined;
  /** Where metrics go. @default the one that is registered globally when something is measured */
  readonly meterProvider?: MeterProvider | undefined;
  /** The model that the client asks when a call names none: the client's own default is not visible here. @default none */
  readonly model?: string | undefined;
  /** `gen_ai.provider.name`, by the conventions' list: `openai`, `azure.ai.openai`, `anthropic` and so on. @default "_OTHER" */
  readonly providerName?: string | undefined;
  /** Where spans go. @default the one that is registered globally, also when that happens later */
  readonly tracerProvider?: TracerProvider | undefined;
}

/** Options, checked and complete. */
export interface TelemetrySettings {
  readonly captureContent: boolean;
  readonly captureErrors: boolean;
  readonly captureIds: boolean;
  readonly captureOwner: boolean;
  readonly meterProvider: MeterProvider | undefined;
  readonly model: string | undefined;
  readonly providerName: string;
  readonly tracerProvider: TracerProvider | undefined;
}

/** Checks options. @throws `configuration` naming the option. */
export function telemetrySettings(options: TelemetryOptions): TelemetrySettings {
  assertObject(options, "options", {
    captureContent: "boolean",
    captureErrors: "boolean",
    captureIds: "boolean",
    captureOwner: "boolean",
  });
  const { model, providerName = "_OTHER", meterProvider, tracerProvider } = options;
  assertName(providerName, "providerName");
  if (model !== undefined) {
    assertName(model, "model");
  }
  if (meterProvider !== undefined && typeof meterProvider?.getMeter !== "function") {
    throw configurationError("meterProvider", "must be a MeterProvider of OpenTelemetry");
  }
  if (tracerProvider !== undefined && typeof tracerProvider?.getTracer !== "function") {
    throw configurationError("tracerProvider", "must be a TracerProvider of OpenTelemetry");
  }
  const { captureContent = false, captureErrors = false, captureIds = false, captureOwner = false } = options;
  return {
    captureContent,
    captureErrors,
    captureIds,
    captureOwner,
    meterProvider,
    model,
    providerName,
    tracerProvider,
  };
}
