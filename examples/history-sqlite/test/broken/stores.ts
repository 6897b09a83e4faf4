import { setTimeout } from "node:timers/promises";
import type {
  AppendOptions,
  CallOptions,
  HistoryKey,
  HistoryPage,
  HistoryRecord,
  HistoryStore,
  ReadOptions,
} from "@agentfw/core";
import { AgentFrameworkError, assertHistoryRecords, isAgentFrameworkError } from "@agentfw/core";
import type { Client } from "@libsql/client";
import { SqliteHistoryStore, type SqliteHistoryStoreOptions } from "../../src/index.ts";

type Appended = ReturnType<HistoryStore["append"]>;
type Settings = SqliteHistoryStoreOptions & { readonly client: Client };

/** A failure of the backend is taken for a conversation that is not there. */
export class OutageReadsAsEmpty extends SqliteHistoryStore {
  override async read(key: HistoryKey, options?: ReadOptions): Promise<HistoryPage> {
    try {
      return await super.read(key, options);
    } catch (error) {
      if (isAgentFrameworkError(error, "unavailable")) {
        return { records: [], version: "" };
      }
      throw error;
    }
  }
}

/** The first call opens the file, and what it failed with is what every later call fails with. */
export class RemembersItsFirstFailure extends SqliteHistoryStore {
  #opening: Promise<unknown> | undefined;

  override async append(key: HistoryKey, records: readonly HistoryRecord[], options?: AppendOptions): Appended {
    await this.#opened();
    return super.append(key, records, options);
  }

  override async read(key: HistoryKey, options?: ReadOptions): Promise<HistoryPage> {
    await this.#opened();
    return super.read(key, options);
  }

  #opened(): Promise<unknown> {
    this.#opening ??= super.read({ owner: null, source: "-", session: "-" });
    return this.#opening;
  }
}

/** Each record of a turn is written by itself. */
export class RecordByRecord extends SqliteHistoryStore {
  override async append(key: HistoryKey, records: readonly HistoryRecord[], options: AppendOptions = {}): Appended {
    let result = await super.append(key, [], options);
    for (const record of records) {
      const { version, appended } = await super.append(key, [record]);
      result = { version, appended: result.appended + appended };
    }
    return result;
  }
}

/** A large append is written in parts, each a transaction of its own. */
export class ThousandByThousand extends SqliteHistoryStore {
  override async append(key: HistoryKey, records: readonly HistoryRecord[], options: AppendOptions = {}): Appended {
    let result = await super.append(key, records.slice(0, 1_000), options);
    for (let start = 1_000; start < records.length; start += 1_000) {
      const { version, appended } = await super.append(key, records.slice(start, start + 1_000));
      result = { version, appended: result.appended + appended };
    }
    return result;
  }
}

/** What is stored already is asked for in one statement, whose parameters grow with the append. */
export class AllInOneStatement extends SqliteHistoryStore {
  readonly #client: Client;

  constructor(settings: Settings) {
    super(settings);
    this.#client = settings.client;
  }

  override async append(key: HistoryKey, records: readonly HistoryRecord[], options?: AppendOptions): Appended {
    assertHistoryRecords(records, this.capabilities.maxRecordBytes);
    if (records.length > 0) {
      const rows = records.map(() => "(?, ?, ?)").join(", ");
      const args = records.flatMap(({ id }) => [key.source, key.session, id]);
      try {
        await this.#client.execute({ sql: `WITH given AS (VALUES ${rows}) SELECT count(*) FROM given`, args });
      } catch (error) {
        throw new AgentFrameworkError("unavailable", "append failed", { cause: error });
      }
    }
    return super.append(key, records, options);
  }
}

/** The version is compared before the write, not in it. */
export class LooksBeforeItWrites extends SqliteHistoryStore {
  override async append(key: HistoryKey, records: readonly HistoryRecord[], options: AppendOptions = {}): Appended {
    const { ifVersion, ...others } = options;
    if (ifVersion !== undefined) {
      const { version } = await super.read(key, { last: 1 });
      if (version !== ifVersion) {
        return super.append(key, records, options);
      }
    }
    return super.append(key, records, others);
  }
}

/** A session is what the driver makes of the text: cut at NUL, with lone surrogates replaced. */
export class SessionsAsTheDriverTakesThem extends SqliteHistoryStore {
  readonly #client: Client;

  constructor(settings: Settings) {
    super(settings);
    this.#client = settings.client;
  }

  override async append(key: HistoryKey, records: readonly HistoryRecord[], options?: AppendOptions): Appended {
    return super.append(await this.#stored(key), records, options);
  }

  override async read(key: HistoryKey, options?: ReadOptions): Promise<HistoryPage> {
    return super.read(await this.#stored(key), options);
  }

  async #stored(key: HistoryKey): Promise<HistoryKey> {
    const { rows } = await this.#client.execute({ sql: "SELECT ? AS text", args: [key.session] });
    return { ...key, session: String(rows[0]?.["text"]) };
  }
}

/** The session is a pattern when a conversation is cleared. */
export class ClearsByPattern extends SqliteHistoryStore {
  readonly #client: Client;

  constructor(settings: Settings) {
    super(settings);
    this.#client = settings.client;
  }

  override async clear(key: HistoryKey, options?: CallOptions): Promise<void> {
    await super.clear(key, options);
    const { rows } = await this.#client.execute({
      sql: `SELECT owner, source, session FROM agentfw_conversations
        WHERE owner = ? AND source = ? AND session LIKE ?`,
      args: [JSON.stringify(key.owner), JSON.stringify(key.source), JSON.stringify(key.session)],
    });
    for (const row of rows) {
      await super.clear({ ...key, session: String(JSON.parse(String(row["session"]))) });
    }
  }
}

/** The oldest records go in a step after the append, as of a job that tidies up. */
export class TrimsAfterwards extends SqliteHistoryStore {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    super({ ...settings, maxRecords: undefined });
    this.#settings = settings;
  }

  override async append(key: HistoryKey, records: readonly HistoryRecord[], options?: AppendOptions): Appended {
    const result = await super.append(key, records, options);
    const { client, maxRecords } = this.#settings;
    if (maxRecords !== undefined) {
      await setTimeout(50);
      await client.execute({
        sql: `DELETE FROM agentfw_records WHERE conversation = :number AND position <= (
          SELECT position FROM agentfw_records WHERE conversation = :number ORDER BY position DESC LIMIT 1 OFFSET :kept)`,
        args: { number: Number.parseInt(result.version, 10), kept: maxRecords },
      });
    }
    return result;
  }
}

/** A page begins so many records before the end, however many there are when it is asked for. */
export class CountsFromTheEnd extends SqliteHistoryStore {
  override async read(key: HistoryKey, options: ReadOptions = {}): Promise<HistoryPage> {
    const { before, last, ...others } = options;
    const { older: _older, ...all } = await super.read(key, others);
    const end = all.records.length - Number(before ?? 0);
    const start = last === undefined ? 0 : Math.max(0, end - last);
    const records = all.records.slice(start, end);
    return { ...all, records, ...(start === 0 ? {} : { older: String(all.records.length - start) }) };
  }
}

/** What cannot be read is left out, whether that was asked for or not. */
export class SkipsWhatItCannotRead extends SqliteHistoryStore {
  override async read(key: HistoryKey, options?: ReadOptions): Promise<HistoryPage> {
    const { corrupt: _corrupt, ...page } = await super.read(key, { ...options, onCorrupt: "skip" });
    return page;
  }
}
