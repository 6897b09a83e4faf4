import type { Content, UsageDetails } from "@agentfw/core";
import type { Attributes } from "@opentelemetry/api";
import { ATTRIBUTE } from "./attributes.ts";

/** Sums up the counts of tokens that an answer or a run tells of. What nobody said stays absent. */
export class UsageSum {
  readonly #counts = new Map<keyof UsageDetails, number>();

  add(contents: readonly Content[] | undefined): void {
    for (const content of contents ?? []) {
      if (content.type === "usage") {
        this.#addDetails(content.details);
      }
    }
  }

  get(name: keyof UsageDetails): number | undefined {
    return this.#counts.get(name);
  }

  attributes(): Attributes {
    return {
      [ATTRIBUTE.usageInput]: this.get("inputTokenCount"),
      [ATTRIBUTE.usageOutput]: this.get("outputTokenCount"),
      [ATTRIBUTE.usageCachedInput]: this.get("cachedInputTokenCount"),
      [ATTRIBUTE.usageReasoning]: this.get("reasoningTokenCount"),
    };
  }

  #addDetails(details: UsageDetails): void {
    const names = ["inputTokenCount", "outputTokenCount", "cachedInputTokenCount", "reasoningTokenCount"] as const;
    for (const name of names) {
      const count = details[name];
      if (count !== undefined) {
        this.#counts.set(name, (this.#counts.get(name) ?? 0) + count);
      }
    }
  }
}
