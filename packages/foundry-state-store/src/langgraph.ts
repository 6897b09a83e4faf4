export { FoundryCheckpointSaver } from "./langgraph/foundry-checkpoint-saver.ts";
