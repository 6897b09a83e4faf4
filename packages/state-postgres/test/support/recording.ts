import type pg from "pg";
import type { PostgresPool, PostgresPoolClient, PostgresStatement } from "../../src/index.ts";

/** A pool that notes what is sent through it, and how many connections were lent at once. */
export interface Recording extends PostgresPool {
  readonly sent: PostgresStatement[];
  readonly mostLent: number;
  /** Forgets what was noted. */
  reset(): void;
}

/** Stands in front of a pool of pg. */
export function recording(pool: pg.Pool): Recording {
  const sent: PostgresStatement[] = [];
  let [lent, mostLent] = [0, 0];
  return {
    sent,
    get mostLent() {
      return mostLent;
    },
    reset() {
      sent.length = 0;
      mostLent = 0;
    },
    connect(callback) {
      pool.connect((error, client) => {
        if (client === undefined) {
          callback(error, undefined);
          return;
        }
        lent += 1;
        mostLent = Math.max(mostLent, lent);
        callback(undefined, wrapped(client));
      });
    },
  };

  function wrapped(client: pg.PoolClient): PostgresPoolClient {
    return {
      query(statement) {
        sent.push(statement);
        return client.query(statement);
      },
      release(destroy) {
        lent -= 1;
        client.release(destroy);
      },
      on: (event, listener) => client.on(event, listener),
      removeListener: (event, listener) => client.removeListener(event, listener),
    };
  }
}
