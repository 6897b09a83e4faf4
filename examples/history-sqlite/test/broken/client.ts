import type { Client, InStatement, Transaction } from "@libsql/client";

/** Texts in SQL, and what stands in their place. */
export type Rewrites = readonly (readonly [from: string, to: string])[];

/** The same client, whose statements are changed before they are sent. */
export function rewriting(client: Client, rewrites: Rewrites): Client {
  return new Proxy(client, {
    get(target, name) {
      if (name === "execute") {
        return (statement: InStatement | string) => target.execute(rewritten(statement, rewrites));
      }
      if (name === "transaction") {
        return async (...args: Parameters<Client["transaction"]>) =>
          within(await target.transaction(...args), rewrites);
      }
      return member(target, name);
    },
  });
}

function within(transaction: Transaction, rewrites: Rewrites): Transaction {
  return new Proxy(transaction, {
    get(target, name) {
      if (name === "execute") {
        return (statement: InStatement | string) => target.execute(rewritten(statement, rewrites));
      }
      return member(target, name);
    },
  });
}

function rewritten(statement: InStatement | string, rewrites: Rewrites): InStatement {
  const rewrite = (sql: string): string => rewrites.reduce((text, [from, to]) => text.replaceAll(from, to), sql);
  return typeof statement === "string" ? rewrite(statement) : { ...statement, sql: rewrite(statement.sql) };
}

/** Private fields need the real object behind `this`. */
function member(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target);
  return typeof value === "function" ? value.bind(target) : value;
}
