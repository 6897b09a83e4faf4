import { createServer } from "node:net";

/**
 * A port of the loopback interface that nobody listens on. Somebody may take it before it is used, so whoever starts a
 * server on it must be ready to try another one.
 */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => {
        if (typeof address === "object" && address !== null) {
          resolve(address.port);
        } else {
          reject(new Error("the system gave no port"));
        }
      });
    });
  });
}
