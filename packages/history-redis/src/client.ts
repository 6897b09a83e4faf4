/**
 * What the store needs of a client that is passed in. `Redis` and `Cluster` of ioredis 5 and 6 have it.
 *
 * A client must send a command in the order in which it was asked to, route it by its keys on a cluster, and reject with
 * the server's own message when the server answers with an error.
 */
export interface RedisClient {
  /** Sends one command and resolves with the server's answer, texts decoded as UTF-8. */
  call(command: string, args: (string | number)[]): Promise<unknown>;
}
