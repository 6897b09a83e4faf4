/**
 * The web globals that core may use: those that Node, Deno, Bun, browsers and workers all have.
 * Declared here, and not through the DOM library, so that nothing else can be used by accident.
 */

interface AbortEventLike {
  readonly type: string;
}

interface AbortSignal {
  readonly aborted: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: the platform's own type
  readonly reason: any;
  throwIfAborted(): void;
  addEventListener(
    type: "abort",
    listener: (event: AbortEventLike) => void,
    options?: { once?: boolean; signal?: AbortSignal },
  ): void;
  removeEventListener(type: "abort", listener: (event: AbortEventLike) => void): void;
}

declare var AbortSignal: {
  prototype: AbortSignal;
  abort(reason?: unknown): AbortSignal;
  any(signals: Iterable<AbortSignal>): AbortSignal;
  timeout(milliseconds: number): AbortSignal;
};

interface AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

declare var AbortController: { prototype: AbortController; new (): AbortController };

interface DOMException extends Error {
  readonly code: number;
}

declare var DOMException: { prototype: DOMException; new (message?: string, name?: string): DOMException };

interface TextEncoder {
  encode(input?: string): Uint8Array<ArrayBuffer>;
}

declare var TextEncoder: { prototype: TextEncoder; new (): TextEncoder };

interface TextDecoder {
  decode(input?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string;
}

declare var TextDecoder: {
  prototype: TextDecoder;
  new (label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }): TextDecoder;
};

/** A number in browsers, an object in Node, where an unreferenced timer does not keep the process alive. */
interface Timer {
  unref?(): void;
}

declare function setTimeout<A extends unknown[]>(
  handler: (...args: A) => void,
  milliseconds?: number,
  ...args: A
): Timer;
declare function clearTimeout(timer: Timer | undefined): void;
declare function setInterval<A extends unknown[]>(
  handler: (...args: A) => void,
  milliseconds?: number,
  ...args: A
): Timer;
declare function clearInterval(timer: Timer | undefined): void;
declare function queueMicrotask(callback: () => void): void;
declare function structuredClone<T>(value: T): T;
declare function atob(data: string): string;
declare function btoa(data: string): string;

declare var crypto: {
  randomUUID(): `${string}-${string}-${string}-${string}-${string}`;
  getRandomValues<T extends ArrayBufferView>(array: T): T;
  readonly subtle: {
    digest(algorithm: "SHA-256", data: ArrayBuffer | ArrayBufferView<ArrayBuffer>): Promise<ArrayBuffer>;
  };
};

declare var performance: { now(): number };
