/** What the store sends, in the form that `pg` takes. */
export interface PostgresStatement {
  /** With a name the server keeps the plan, for as long as the connection lives. */
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
  readonly rowMode: "array";
}

/** What the server answered, as far as the store looks at it. */
export interface PostgresResult {
  readonly rows: readonly unknown[];
}

/** One connection of a pool, lent. `PoolClient` of pg 8 is one. */
export interface PostgresPoolClient {
  query(statement: PostgresStatement): Promise<PostgresResult>;
  /** Gives it back; with `true` the connection is ended, because it may be broken. */
  release(destroy?: boolean): void;
  /** Without a listener an `error` event of a lent connection would end the process. */
  on(event: "error", listener: () => void): unknown;
  removeListener(event: "error", listener: () => void): unknown;
}

/**
 * What the store needs of a pool that is passed in. `Pool` of pg 8 has it.
 *
 * The pool decides how many connections there are and how long a caller waits for one.
 */
export interface PostgresPool {
  /** Lends a connection. Not by a promise: a connection can fail before whoever waits for one has heard of it. */
  connect(callback: (error: Error | undefined, client: PostgresPoolClient | undefined) => void): void;
}

/**
 * What the store needs of a database in this process. PGlite has it, and so has a single connected `Client` of pg.
 *
 * Arrays among the values become arrays of the server, and the rows are objects by column.
 */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
}
