// A process of its own: appends turns of `size` records to one conversation, and says each that was acknowledged.
import { SqliteHistoryStore } from "../dist/index.js";

const [path, writer, turns, size] = process.argv.slice(2);
const store = new SqliteHistoryStore({ path, timeoutMs: 20_000 });
const key = { owner: "ann", source: "history", session: "shared" };
for (let turn = 0; turn < Number(turns); turn += 1) {
  const records = Array.from({ length: Number(size) }, (_, index) => ({
    id: `${writer}/${turn}/${index}`,
    data: JSON.stringify({ writer, turn, index, text: "x".repeat(500) }),
  }));
  await store.append(key, records);
  process.stdout.write(`${turn}\n`);
}
await store.close();
