import type { Backend } from "../measurement.ts";
import { blobBackend } from "./blob.ts";
import { blobStoreBackend } from "./blob-store.ts";
import { fileBackend, fileWithoutFsyncBackend } from "./file.ts";
import { memoryBackend } from "./memory.ts";
import { memoryFileBackend } from "./memory-file.ts";
import { openaiBackend } from "./openai.ts";
import { postgresBackend } from "./postgres.ts";
import { postgresStateBackend } from "./postgres-state.ts";
import { postgresStoreBackend } from "./postgres-store.ts";
import { redisBackend, redisFarBackend } from "./redis.ts";
import { redisStateBackend } from "./redis-state.ts";
import { redisStoreBackend } from "./redis-store.ts";
import { runBackend, runInPiecesBackend } from "./run.ts";
import { runWatchedBackend } from "./run-otel.ts";

/** Everything that is measured, in the order in which it is. */
export const BACKENDS: readonly Backend[] = [
  runBackend,
  runInPiecesBackend,
  memoryBackend,
  fileBackend,
  fileWithoutFsyncBackend,
  redisBackend,
  redisStoreBackend,
  redisFarBackend,
  redisStateBackend,
  postgresBackend,
  postgresStoreBackend,
  postgresStateBackend,
  blobBackend,
  blobStoreBackend,
  memoryFileBackend,
  openaiBackend,
  runWatchedBackend,
];
