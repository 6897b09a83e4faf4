// The long soak: 2,000 runs, or as many as AGENTFW_SOAK_RUNS says; AGENTFW_SOAK_SEED chooses what happens in them.
import { startVitest } from "vitest/node";

process.env.AGENTFW_SOAK_RUNS ??= "2000";
const vitest = await startVitest("test", ["test/soak.test.ts"], { watch: false });
await vitest.close();
