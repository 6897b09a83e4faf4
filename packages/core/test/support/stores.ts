import {
  type AppendOptions,
  type HistoryKey,
  type HistoryRecord,
  type HistoryStore,
  InMemoryHistoryStore,
  type InMemoryHistoryStoreOptions,
  type ReadOptions,
} from "../../src/index.ts";

/** An in-memory store that notes what it is asked. Override a method to make it fail or wait. */
export class RecordingStore extends InMemoryHistoryStore {
  readonly calls: {
    readonly name: "append" | "read" | "clear" | "replace";
    readonly options: AppendOptions & ReadOptions;
    readonly records?: readonly HistoryRecord[];
  }[] = [];

  constructor(options: InMemoryHistoryStoreOptions = {}) {
    super(options);
  }

  get reads(): number {
    return this.calls.filter(({ name }) => name === "read").length;
  }

  get appends(): number {
    return this.calls.filter(({ name }) => name === "append").length;
  }

  override append(
    key: HistoryKey,
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): ReturnType<InMemoryHistoryStore["append"]> {
    this.calls.push({ name: "append", options, records });
    return super.append(key, records, options);
  }

  override read(key: HistoryKey, options: ReadOptions = {}): ReturnType<InMemoryHistoryStore["read"]> {
    this.calls.push({ name: "read", options });
    return super.read(key, options);
  }
}

/** The ids and texts of all records, in order, as they are stored. */
export async function storedRecords(store: HistoryStore, key: HistoryKey): Promise<readonly HistoryRecord[]> {
  return (await store.read(key)).records;
}
