/**
 * How a writer behaves where others write to the same thing under conditions. One that knows the current state needs one request,
 * one that was refused needs two: left alone, the first would be quicker every time. So whoever met another writer lately
 * looks first and waits a random time, as the others do, and of those who wait each is the first one sooner or later.
 *
 * Keep one for each thing that is written to, and measure requests with it.
 */
export class Contention {
  #until = 0;
  #requestMs = 10;

  /** True when another writer came first in the last two seconds: pause and look before you write. */
  get isNear(): boolean {
    return performance.now() < this.#until;
  }

  /** Another writer came first. */
  met(): void {
    this.#until = performance.now() + MEMORY_MS;
  }

  /** A request took so long, which is the measure of all pauses. */
  took(milliseconds: number): void {
    this.#requestMs = Math.min(LONGEST_REQUEST_MS, (3 * this.#requestMs + milliseconds) / 4);
  }

  /** How long to wait before a write, after so many tries that came too late: at random, up to some requests' length. */
  pauseMs(tries: number): number {
    return Math.random() * this.#requestMs * Math.min(MOST_REQUESTS, FIRST_REQUESTS + tries);
  }
}

const MEMORY_MS = 2_000;
const LONGEST_REQUEST_MS = 100;
/** A pause is up to so many times as long as a request; more so when there are many writers. */
const FIRST_REQUESTS = 3;
const MOST_REQUESTS = 8;
