import { compare, type Position } from "../data/partition.ts";
import { type NewStore, StoreData, type StoreRecord } from "../data/store-data.ts";
import { assertDescription, assertItemTtl, assertServiceName } from "../input-checks.ts";
import { DEFAULT_TTL_SECONDS } from "../limits.ts";
import { assertTaken, conflict, invalid, notFound, pageReply, type Reply } from "./replies.ts";
import { bodyOf, cursorsOf, type EmulatorRequest, pageRequest, tagsOf } from "./request.ts";
import type { World } from "./world.ts";

/** Answers what is asked about stores as such. */
export async function storeOperation(world: World, request: EmulatorRequest): Promise<Reply | undefined> {
  const { method, route } = request;
  if (route.resource === "stores") {
    return method === "POST" ? createStore(world, request) : method === "GET" ? listStores(world, request) : undefined;
  }
  switch (method) {
    case "GET":
      return { status: 200, body: JSON.stringify(storeBody(storeOf(world, request).record)) };
    case "PATCH":
      return updateStore(world, request);
    case "DELETE":
      return deleteStore(world, request);
    default:
      return undefined;
  }
}

/** The store that a path names. @throws a refusal with 404 */
export function storeOf(world: World, { route }: EmulatorRequest): StoreData {
  const store = world.stores(route.project).get(route.store);
  if (store === undefined) {
    throw notFound("state store");
  }
  return store;
}

async function createStore(world: World, request: EmulatorRequest): Promise<Reply> {
  const { members } = bodyOf(request);
  const store = newStore(members);
  const stores = world.stores(request.route.project);
  if (stores.has(store.name)) {
    throw conflict("a state store with this name exists");
  }
  const data = StoreData.create(store, world.now());
  stores.set(store.name, data);
  await world.journal.created(request.route.project, data);
  return { status: 201, body: JSON.stringify(storeBody(data.record)) };
}

function newStore(members: Readonly<Record<string, unknown>>): NewStore {
  const { name, user_isolation: userIsolation = false, item_ttl_seconds: ttl = DEFAULT_TTL_SECONDS } = members;
  assertTaken(() => assertServiceName(name, "name"));
  assertTaken(() => assertItemTtl(ttl, "item_ttl_seconds"));
  if (typeof userIsolation !== "boolean") {
    throw invalid("user_isolation", "must be true or false");
  }
  return {
    name: String(name),
    userIsolation,
    itemTtlSeconds: Number(ttl),
    description: descriptionOf(members["description"]),
    tags: tagsOf(members["tags"]),
  };
}

function descriptionOf(value: unknown): string | null {
  if (value === undefined || value === null) {
    return null;
  }
  assertTaken(() => assertDescription(value));
  return String(value);
}

function listStores(world: World, { route, query }: EmulatorRequest): Reply {
  const records = [...world.stores(route.project).values()].map(({ record }) => record);
  const { unknownCursor } = world.settings;
  const page = pageRequest(query, (id) => records.find((record) => record.id === id), unknownCursor);
  const step = page.order === "asc" ? 1 : -1;
  const inOrder = (left: Position, right: Position) => compare(left, right) * step;
  const { after, before } = page;
  const found = records
    .filter((record) => !page.isEmpty && (after === undefined || inOrder(record, after) > 0))
    .filter((record) => before === undefined || inOrder(record, before) < 0)
    .sort(inOrder);
  const shown = found.slice(0, page.limit);
  return pageReply(shown.map(storeBody), cursorsOf(shown), found.length > page.limit);
}

async function updateStore(world: World, request: EmulatorRequest): Promise<Reply> {
  const store = storeOf(world, request);
  const { members } = bodyOf(request);
  const fixed = ["name", "user_isolation", "item_ttl_seconds"].find((name) => members[name] !== undefined);
  if (fixed !== undefined) {
    throw invalid(fixed, "cannot be changed");
  }
  const { description, tags } = members;
  store.update(
    {
      description: description === undefined ? undefined : descriptionOf(description),
      tags: tags === undefined ? undefined : tagsOf(tags),
    },
    world.now(),
  );
  await world.journal.updated(request.route.project, store);
  return { status: 200, body: JSON.stringify(storeBody(store.record)) };
}

async function deleteStore(world: World, { route }: EmulatorRequest): Promise<Reply> {
  const stores = world.stores(route.project);
  const store = stores.get(route.store);
  if (store !== undefined) {
    stores.delete(route.store);
    await world.journal.deleted(route.project, route.store);
  }
  const body = { id: store?.record.id, object: "state_store", name: route.store, deleted: true };
  return { status: 200, body: JSON.stringify(body) };
}

function storeBody(record: StoreRecord): object {
  return {
    id: record.id,
    object: "state_store",
    name: record.name,
    user_isolation: record.userIsolation,
    item_ttl_seconds: record.itemTtlSeconds,
    description: record.description,
    tags: record.tags,
    created_at: record.createdAt,
    updated_at: record.updatedAt,
  };
}
