import { expect, test } from "vitest";
import { type RedisClient, RedisHistoryStore } from "../src/index.ts";

class FilterOfAda {
  get owner(): string {
    return "ada";
  }
}

test("A listing is of the owner that its filter names, also where the filter inherits it", async () => {
  const asked: string[] = [];
  const call: RedisClient["call"] = async (command, args) => {
    asked.push(JSON.stringify([command, args]));
    return [];
  };
  const store = new RedisHistoryStore({ client: { call } });
  await store.list(new FilterOfAda());
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.filter((one) => !one.includes("ada"))).toEqual([]);
});
