import { Readable } from "node:stream";
import type { AgentResponse } from "@agentfw/agent";
import { type HttpProblem, problemBody } from "./errors.ts";
import { answerView } from "./views.ts";

type Pieces = AsyncGenerator<string | AgentResponse, void>;

/**
 * A run as server-sent events: `text` for each piece, then `done` with what a plain request gets, or `problem` when it
 * failed on the way. Whoever stops reading gives the run up.
 *
 * @param onFailure Hears of a failure on the way, and says what the client is told.
 * @throws what ends the run before its first piece, when it can still become the status of the answer.
 */
export async function eventStream(pieces: Pieces, onFailure: (error: unknown) => HttpProblem): Promise<Readable> {
  const first = await pieces.next();
  const stream = Readable.from(events(first, pieces, onFailure));
  // Also when nobody begins to read it: the run has begun.
  stream.once("close", () => void pieces.return().catch(onFailure));
  return stream;
}

async function* events(
  first: IteratorResult<string | AgentResponse, void>,
  pieces: Pieces,
  onFailure: (error: unknown) => HttpProblem,
): AsyncGenerator<string, void> {
  try {
    for (let piece = first; !piece.done; piece = await pieces.next()) {
      const { value } = piece;
      yield typeof value === "string" ? event("text", { text: value }) : event("done", answerView(value));
    }
  } catch (error) {
    yield event("problem", problemBody(onFailure(error)));
  }
}

function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
