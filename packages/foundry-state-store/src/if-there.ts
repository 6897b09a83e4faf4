import { systemCode } from "@agentfw/core/backend";

/** What a call of the file system gives, or `undefined` where what it names is not there. */
export async function ifThere<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (systemCode(error) === "ENOENT") {
      return undefined;
    }
    throw error;
  }
}
