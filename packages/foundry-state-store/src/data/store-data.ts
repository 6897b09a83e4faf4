import { randomBytes } from "node:crypto";
import type { Tags } from "@agentfw/core";
import { Partition } from "./partition.ts";

/** What a store is, apart from its items. */
export interface StoreRecord {
  readonly id: string;
  readonly name: string;
  readonly userIsolation: boolean;
  readonly itemTtlSeconds: number;
  readonly description: string | null;
  readonly tags: Tags;
  /** Seconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What a store is created with. */
export type NewStore = Pick<StoreRecord, "name" | "userIsolation" | "itemTtlSeconds" | "description" | "tags">;

/** What can be changed of a store; a member that is absent stays. */
export interface StoreChanges {
  readonly description?: string | null | undefined;
  readonly tags?: Tags | undefined;
}

/** A store with its items, apart for each user. */
export class StoreData {
  record: StoreRecord;
  readonly partitions: Map<string, Partition> = new Map();

  constructor(record: StoreRecord) {
    this.record = record;
  }

  /** A new store without items. */
  static create(store: NewStore, now: number): StoreData {
    const seconds = Math.floor(now / 1_000);
    const id = `ss_${randomBytes(12).toString("hex")}`;
    return new StoreData({ id, ...store, createdAt: seconds, updatedAt: seconds });
  }

  /** The items of one user. */
  partition(user: string): Partition {
    const existing = this.partitions.get(user) ?? new Partition();
    this.partitions.set(user, existing);
    return existing;
  }

  /** Changes the description, the tags, or nothing. */
  update({ description, tags }: StoreChanges, now: number): void {
    if (description !== undefined || tags !== undefined) {
      const { record } = this;
      this.record = {
        ...record,
        description: description === undefined ? record.description : description,
        tags: tags ?? record.tags,
        updatedAt: Math.max(record.updatedAt, Math.floor(now / 1_000)),
      };
    }
  }
}
