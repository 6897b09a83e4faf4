import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OpenedHistoryStore, OpenOptions } from "@agentfw/provider-testing";
import { testHistoryStore } from "@agentfw/provider-testing/vitest";
import { conversationPath } from "../src/file-names.ts";
import { FileHistoryStore, type FileHistoryStoreOptions } from "../src/index.ts";

testHistoryStore({
  name: "history-file",
  open: openFiles,
  cannot: {
    loseNextReply: "there is no connection on which a reply could be lost",
    sharedClient: "there is no client",
    stallBackend: "a file system cannot be made to hang from within a process",
  },
});

async function openFiles(given: OpenOptions = {}): Promise<OpenedHistoryStore> {
  const directory = join(tmpdir(), `agentfw-history-file-${randomUUID()}`);
  // The kit stores a record at the limit only where the limit is small.
  const options: FileHistoryStoreOptions = { maxRecordBytes: 4_000_000, fsync: false, ...given, directory };
  const stores = [new FileHistoryStore(options)];
  await mkdir(directory);
  const moved = `${directory}.moved`;
  return {
    store: stores[0]!,
    async another() {
      const store = new FileHistoryStore(options);
      stores.push(store);
      return store;
    },
    async close() {
      await Promise.all(stores.map((store) => store.close()));
      await Promise.all([directory, moved].map((path) => rm(path, { recursive: true, force: true })));
    },
    corrupt: (key, position) => overwrite(join(directory, ...conversationPath(key)), position),
    async breakBackend() {
      await rename(directory, moved);
      await writeFile(directory, "a file where the directory was");
    },
    async healBackend() {
      await rm(directory);
      await rename(moved, directory);
    },
  };
}

/** Writes over bytes in the middle of one stored record. */
async function overwrite(file: string, position: number): Promise<void> {
  const bytes = await readFile(file);
  let left = position;
  for (let start = bytes.indexOf("\n") + 1; start < bytes.length; start = bytes.indexOf("\n", start) + 1) {
    const { turn } = JSON.parse(bytes.toString("utf8", start, bytes.indexOf("\n", start)));
    if (left < turn.ids.length) {
      const before = turn.bytes.slice(0, left).reduce((sum: number, size: number) => sum + size + 1, 0);
      const offset = bytes.indexOf(',"records":[', start) + ',"records":['.length + before;
      const handle = await open(file, "r+");
      await handle.write(Buffer.from("#"), 0, 1, offset + Math.floor(turn.bytes[left] / 2));
      await handle.close();
      return;
    }
    left -= turn.ids.length;
  }
  throw new Error(`there is no record ${position} in ${file}`);
}
