import { failure } from "./expect.ts";

/** How long something that is to happen at once may take on a busy machine. */
export const SOON_MS = 8_000;

/** Fails when the call has not settled soon. */
export async function soon<T>(call: Promise<T>, guarantee: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `${guarantee}: it must settle at once, and had not after ${SOON_MS} ms`;
    timer = setTimeout(() => reject(failure(message)), SOON_MS);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}
