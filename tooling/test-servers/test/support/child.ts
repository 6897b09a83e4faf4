import { setInterval } from "node:timers";
import { startPostgres } from "../../src/postgres.ts";
import { startRedis } from "../../src/redis.ts";

// Starts a server, tells its process id, port and folder, and then ends, stops the server or waits to be killed.
const server = await (process.argv[3] === "postgres" ? startPostgres() : startRedis());
const { pid, port, directory } = server;
process.stdout.write(`${JSON.stringify({ pid, port, directory })}\n`);
if (process.argv[2] === "wait") {
  setInterval(() => {}, 1_000);
} else if (process.argv[2] === "stop") {
  await server.stop();
}
