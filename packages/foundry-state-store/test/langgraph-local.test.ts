import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deltaChannelHistoryTests, validate } from "@langchain/langgraph-checkpoint-validation";
import { LocalStateStore } from "../src/index.ts";
import { FoundryCheckpointSaver } from "../src/langgraph.ts";

const directories = new WeakMap<FoundryCheckpointSaver, string>();

const initializer = {
  checkpointerName: "FoundryCheckpointSaver on LocalStateStore",
  async createCheckpointer(): Promise<FoundryCheckpointSaver> {
    const directory = await mkdtemp(join(tmpdir(), "agentfw-langgraph-"));
    const store = await LocalStateStore.getOrCreate("checkpoints", {
      directory,
      itemTtlSeconds: -1,
      timeoutMs: 30_000,
    });
    const saver = new FoundryCheckpointSaver(store);
    directories.set(saver, directory);
    return saver;
  },
  async destroyCheckpointer(saver: FoundryCheckpointSaver): Promise<void> {
    await rm(directories.get(saver) ?? "", { recursive: true, force: true });
  },
};

validate(initializer);
deltaChannelHistoryTests(initializer);
