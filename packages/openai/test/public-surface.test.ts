import { readdirSync, readFileSync } from "node:fs";
import type { ChatClient } from "@agentfw/core";
import { type AzureOpenAI, OpenAI } from "openai";
import { describe, expect, expectTypeOf, it } from "vitest";
import * as surface from "../src/index.ts";

const SOURCE = new URL("../src/", import.meta.url);

describe("the public surface", () => {
  it("is what the README names, and nothing else at run time", () => {
    expect(Object.keys(surface).sort()).toEqual([
      "OpenAIChatClient",
      "OpenAIResponsesClient",
      "openAIOptionsFromEnvironment",
    ]);
  });

  it("takes the official SDK's clients without a cast", () => {
    expectTypeOf<OpenAI>().toExtend<surface.OpenAILike>();
    expectTypeOf<AzureOpenAI>().toExtend<surface.OpenAILike>();
    expectTypeOf<surface.OpenAIChatClient>().toExtend<ChatClient>();
    expectTypeOf<OpenAI>().toExtend<surface.OpenAIResponsesLike>();
    expectTypeOf<AzureOpenAI>().toExtend<surface.OpenAIResponsesLike>();
    expectTypeOf<surface.OpenAIResponsesClient>().toExtend<ChatClient>();
    const client = new OpenAI({ apiKey: "k" });
    expect(new surface.OpenAIChatClient({ model: "m", client })).toBeDefined();
    expect(new surface.OpenAIResponsesClient({ model: "m", client })).toBeDefined();
  });

  it("names no type of the driver, so that the driver's majors are not ours", () => {
    for (const file of readdirSync(SOURCE)) {
      const text = readFileSync(new URL(file, SOURCE), "utf8");
      expect(text, file).not.toMatch(/import type[^;]*from "openai|import\("openai/);
      for (const line of text.split("\n").filter((entry) => /^export .*\b(?:OpenAI|APIError)\b[^A-Za-z]/.test(entry))) {
        expect.fail(`${file} exports the driver: ${line}`);
      }
    }
  });
});
