import { connect, type Socket } from "node:net";

/** The faults that a proxy is to cause, as its connections look at them; what happened once is taken away. */
export interface Faults {
  readonly target: { readonly host: string; readonly port: number };
  readonly latencyMs: number;
  readonly isBlackhole: boolean;
  cutAfterBytes: number | undefined;
  /** Bytes of the request that the fault is for. */
  lostReply: Buffer | undefined;
  lostRequest: Buffer | undefined;
  duplicate: Buffer | undefined;
}

/** One connection to the proxy and its counterpart to the target. */
export class Pair {
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #faults: Faults;
  /** What the client has sent since the target answered last, while a fault waits for a request. */
  #request: Buffer = Buffer.alloc(0);
  #isAnswered = true;
  /** The answer to this request is lost when it comes. */
  #losesReply = false;

  constructor(client: Socket, faults: Faults) {
    this.#client = client;
    this.#faults = faults;
    this.#upstream = connect(faults.target.port, faults.target.host);
    for (const socket of [client, this.#upstream]) {
      socket.setNoDelay(true);
      socket.on("error", () => this.end());
      socket.on("close", () => this.end());
    }
    client.on("data", (piece) => this.#onRequest(piece));
    this.#upstream.on("data", (piece) => this.#onReply(piece));
    if (faults.isBlackhole) {
      this.hold();
    }
  }

  onEnd(listener: () => void): void {
    this.#client.once("close", listener);
  }

  /** Stops reading on both sides: what is sent waits in the system's buffers, as packets wait for a lost route. */
  hold(): void {
    this.#client.pause();
    this.#upstream.pause();
  }

  flow(): void {
    this.#client.resume();
    this.#upstream.resume();
  }

  end(): void {
    this.#client.destroy();
    this.#upstream.destroy();
  }

  #onRequest(piece: Buffer): void {
    const faults = this.#faults;
    this.#remember(piece);
    if (this.#holds(faults.lostRequest)) {
      faults.lostRequest = undefined;
      this.end();
      return;
    }
    if (this.#holds(faults.lostReply)) {
      faults.lostReply = undefined;
      this.#losesReply = true;
    }
    later(faults.latencyMs, () => this.#upstream.write(piece));
  }

  #onReply(piece: Buffer): void {
    const faults = this.#faults;
    this.#isAnswered = true;
    if (this.#losesReply) {
      this.end();
      return;
    }
    if (this.#holds(faults.duplicate)) {
      faults.duplicate = undefined;
      this.#sendAgain(this.#request, () => this.#onReply(piece));
      return;
    }
    this.#request = Buffer.alloc(0);
    const cut = faults.cutAfterBytes;
    if (cut === undefined) {
      later(faults.latencyMs, () => this.#client.write(piece));
      return;
    }
    faults.cutAfterBytes = undefined;
    this.#client.write(piece.subarray(0, cut), () => this.end());
  }

  /** Sends a request again on a connection of its own, while the answer to the first one waits. */
  #sendAgain(request: Buffer, onAnswered: () => void): void {
    this.#upstream.pause();
    const second = connect(this.#faults.target.port, this.#faults.target.host);
    let isOver = false;
    const over = () => {
      if (!isOver) {
        isOver = true;
        second.destroy();
        onAnswered();
        this.#upstream.resume();
      }
    };
    second.once("data", over);
    second.once("close", over);
    second.on("error", over);
    second.write(request);
  }

  /** Only while a fault waits: a request may be as long as it likes. */
  #remember(piece: Buffer): void {
    const { duplicate, lostReply, lostRequest } = this.#faults;
    const isWaiting = duplicate !== undefined || lostReply !== undefined || lostRequest !== undefined;
    const before = this.#isAnswered || !isWaiting ? Buffer.alloc(0) : this.#request;
    this.#request = isWaiting ? Buffer.concat([before, piece]) : before;
    this.#isAnswered = false;
  }

  #holds(wanted: Buffer | undefined): boolean {
    return wanted !== undefined && this.#request.length > 0 && this.#request.includes(wanted);
  }
}

/** Timers of one length run in the order in which they were set, so the data keeps its order. */
function later(milliseconds: number, work: () => void): void {
  if (milliseconds > 0) {
    setTimeout(work, milliseconds);
  } else {
    work();
  }
}
