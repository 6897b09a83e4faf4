import { spawn } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import type { ServerBinary } from "./server-binary.ts";

/** How to start one server program. */
export interface ServerStart {
  /** Used in error messages and in the name of the data folder. */
  readonly name: string;
  readonly binary: ServerBinary;
  /** How many free ports `arguments` is given. @default 1 */
  readonly ports?: number | undefined;
  /** The program's arguments. The folder is empty, its own, and removed when the server ends. */
  arguments(ports: readonly number[], directory: string): readonly string[];
  /** Stands in the program's output as soon as it accepts connections. */
  readonly readyText: string;
  /** The signal that ends the server. @default "KILL" */
  readonly stopSignal?: string | undefined;
}

/** A server that runs until it is stopped, or until the process that started it is gone. */
export interface ServerProcess {
  readonly ports: readonly number[];
  readonly directory: string;
  /** The server program's own process id. */
  readonly pid: number;
  /** Ends the server and resolves when it is gone. Can be called again. */
  stop(): Promise<void>;
}

/**
 * Stands between this process and the server. It reads a pipe that only this process holds the other end of: when this
 * process ends, however it ends, the read does too, and the server is killed and its folder removed. An exit hook would
 * not run after SIGKILL.
 */
const GUARD = `
signal=$1 directory=$2; shift 2
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
echo "guarded process $server"
# Whoever read this may be gone when there is something to say, and the shell must not end over that.
exec >/dev/null 2>&1
( read -r ignored <&3; kill -"$signal" "$server" ) &
guard=$!
exec 3<&-
wait "$server"
code=$?
kill "$guard"
rm -rf "$directory"
exit "$code"
`;

const START_TIMEOUT_MS = 30_000;
const TRIES = 5;

/**
 * Starts a server on free ports and waits until it is ready. A port that somebody else took in the meantime is
 * exchanged for another one.
 *
 * @throws with the server's own output when it does not come up.
 */
export async function startServerProcess(start: ServerStart): Promise<ServerProcess> {
  for (let tries = 1; ; tries += 1) {
    const ports = await Promise.all(Array.from({ length: start.ports ?? 1 }, freePort));
    const directory = await mkdtemp(join(tmpdir(), `agentfw-${start.name}-`));
    try {
      return await startOnce(start, ports, directory);
    } catch (error) {
      const isPortTaken = error instanceof Error && /address already in use/i.test(error.message);
      if (!isPortTaken || tries === TRIES) {
        throw error;
      }
    }
  }
}

function startOnce(start: ServerStart, ports: readonly number[], directory: string): Promise<ServerProcess> {
  const { name, binary, readyText, stopSignal = "KILL" } = start;
  const args = ["-c", GUARD, "guard", stopSignal, directory, binary.path, ...start.arguments(ports, directory)];
  // A group of its own: Ctrl-C in a terminal ends this process, and the guard then sees to the server.
  const guard = spawn("/bin/sh", args, { env: binary.env, stdio: "pipe", detached: true });
  const ended = new Promise<void>((resolve) => guard.once("close", () => resolve()));
  const stop = () => {
    // Whoever waits for the end must be able to: with nothing else to do, Node would end in the middle of it.
    guard.ref();
    guard.stdin.end();
    return ended;
  };
  return new Promise((resolve, reject) => {
    let output = "";
    const fail = (what: string) => {
      clearTimeout(timer);
      void stop().then(() => reject(new Error(`${name} ${what}:\n${output}`)));
    };
    const timer = setTimeout(() => fail(`was not ready after ${START_TIMEOUT_MS} ms`), START_TIMEOUT_MS);
    const listen = (text: string) => {
      output += text;
      const pid = Number(/^guarded process (\d+)$/m.exec(output)?.[1]);
      if (pid > 0 && output.includes(readyText)) {
        clearTimeout(timer);
        letGo(guard, listen);
        resolve({ ports, directory, pid, stop });
      }
    };
    for (const stream of [guard.stdout, guard.stderr]) {
      stream.setEncoding("utf8").on("data", listen);
    }
    guard.once("error", (error) => fail(`could not be started (${error.message})`));
    guard.once("close", (code) => fail(`ended with code ${code}`));
    guard.stdin.on("error", () => {});
  });
}

/** From now on neither the server nor what it writes keeps this process from ending, and its output is not kept. */
function letGo(guard: ReturnType<typeof spawn>, listen: (text: string) => void): void {
  guard.unref();
  for (const stream of [guard.stdin, guard.stdout, guard.stderr]) {
    stream?.removeListener("data", listen);
    stream?.on("data", () => {});
    if (stream !== null && "unref" in stream && typeof stream.unref === "function") {
      stream.unref();
    }
  }
}
