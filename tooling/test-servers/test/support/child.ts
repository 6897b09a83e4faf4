import { setInterval } from "node:timers";
import { startPostgres } from "../../src/postgres.ts";
import { startRedis } from "../../src/redis.ts";

// Starts a server, tells its process id, port and folder, and then ends or waits to be killed.
const { pid, port, directory } = await (process.argv[3] === "postgres" ? startPostgres() : startRedis());
process.stdout.write(`${JSON.stringify({ pid, port, directory })}\n`);
if (process.argv[2] === "wait") {
  setInterval(() => {}, 1_000);
}
