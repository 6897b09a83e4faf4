import { deltaChannelHistoryTests, validate } from "@langchain/langgraph-checkpoint-validation";
import { startEmulator } from "../src/emulator.ts";
import { FoundryStateStore } from "../src/index.ts";
import { FoundryCheckpointSaver } from "../src/langgraph.ts";

const emulators = new WeakMap<FoundryCheckpointSaver, { close(): Promise<void> }>();

const initializer = {
  checkpointerName: "FoundryCheckpointSaver on the emulator",
  async createCheckpointer(): Promise<FoundryCheckpointSaver> {
    const emulator = await startEmulator();
    const { endpoint } = emulator;
    const store = await FoundryStateStore.getOrCreate("checkpoints", {
      endpoint,
      itemTtlSeconds: -1,
      timeoutMs: 30_000,
    });
    const saver = new FoundryCheckpointSaver(store);
    emulators.set(saver, emulator);
    return saver;
  },
  async destroyCheckpointer(saver: FoundryCheckpointSaver): Promise<void> {
    await emulators.get(saver)?.close();
  },
};

validate(initializer);
deltaChannelHistoryTests(initializer);
