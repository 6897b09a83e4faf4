import { isPlainObject, utf8Length } from "@agentfw/core";
import type { Moment, Outcome, Partition, StoredItem, Write } from "../data/partition.ts";
import { assertServiceName } from "../input-checks.ts";
import { compactJson } from "../json-text.ts";
import { LIMITS } from "../limits.ts";
import { partitionName } from "./identity.ts";
import { assertTaken, conflict, invalid, notFound, pageReply, preconditionFailed, type Reply } from "./replies.ts";
import { type Body, bodyOf, cursorsOf, type EmulatorRequest, pageRequest, tagFilter, tagsOf } from "./request.ts";
import { storeOf } from "./store-operations.ts";
import type { World } from "./world.ts";

/** The items that a request may touch, and where their changes are noted. */
interface Place {
  readonly world: World;
  readonly request: EmulatorRequest;
  readonly partition: Partition;
  readonly ttlSeconds: number;
  note(change: { readonly put: StoredItem } | { readonly remove: string }): Promise<void>;
}

/** Answers what is asked about items. */
export async function itemOperation(world: World, request: EmulatorRequest): Promise<Reply | undefined> {
  const { method, route } = request;
  if (route.resource === "item") {
    assertTaken(() => assertServiceName(route.key, "key"));
  }
  const place = placeOf(world, request);
  switch (`${method} ${route.resource}`) {
    case "POST items":
      return createItem(place);
    case "PUT item":
      return putItem(place);
    case "GET item":
      return getItem(place);
    case "DELETE item":
      return deleteItem(place);
    case "GET keys":
      return listKeys(place);
    default:
      return undefined;
  }
}

function placeOf(world: World, request: EmulatorRequest): Place {
  const store = storeOf(world, request);
  const user = partitionName(world.settings, store.record, request);
  return {
    world,
    request,
    partition: store.partition(user),
    ttlSeconds: store.record.itemTtlSeconds,
    note: (change) => world.journal.changed(request.route.project, store, { user, ...change }),
  };
}

async function createItem(place: Place): Promise<Reply> {
  const body = bodyOf(place.request);
  const { key } = body.members;
  assertTaken(() => assertServiceName(key, "key"));
  return written(place, place.partition.create(writeOf(String(key), body), momentOf(place)));
}

async function putItem(place: Place): Promise<Reply> {
  const { request, partition } = place;
  const write = { ...writeOf(request.route.key, bodyOf(request)), ifMatch: request.header("if-match") };
  return written(place, partition.set(write, momentOf(place)));
}

async function written(place: Place, result: Outcome): Promise<Reply> {
  if (result.refusal !== undefined) {
    throw result.refusal === "exists"
      ? conflict("an item with this key exists")
      : preconditionFailed(result.item?.etag);
  }
  const { item, isNew } = result;
  await place.note({ put: item });
  return { status: isNew ? 201 : 200, etag: item.etag, body: JSON.stringify(referenceBody(item)) };
}

function getItem({ partition, request, world }: Place): Reply {
  const item = partition.get(request.route.key, world.now());
  if (item === undefined) {
    throw notFound("item");
  }
  // Put together as text: parsing the value would change its numbers.
  const around = JSON.stringify({ ...referenceBody(item), tags: item.tags });
  return { status: 200, etag: item.etag, body: `${around.slice(0, -1)},"value":${item.text}}` };
}

async function deleteItem(place: Place): Promise<Reply> {
  const { partition, request, world } = place;
  const { key } = request.route;
  const result = partition.delete(key, world.now(), request.header("if-match"));
  if (result.refusal === "mismatch") {
    throw preconditionFailed(result.item?.etag);
  }
  if (result.item !== undefined) {
    await place.note({ remove: key });
  }
  return { status: 200, body: JSON.stringify({ id: result.item?.id, object: "state_store.item", key, deleted: true }) };
}

function listKeys({ partition, request, world }: Place): Reply {
  const { query } = request;
  const page = pageRequest(query, (id) => partition.positionOf(id), world.settings.unknownCursor);
  const tags = tagFilter(query);
  if (page.isEmpty) {
    return pageReply([], [], false);
  }
  const { items, hasMore } = partition.list({ ...page, tags, now: world.now() });
  const data = items.map((item) => ({ ...referenceBody(item), tags: item.tags }));
  return pageReply(data, cursorsOf(items), hasMore);
}

function writeOf(key: string, body: Body): Write {
  const { value, tags } = body.members;
  const text = body.textOf("value");
  if (!isPlainObject(value) || text === undefined) {
    throw invalid("value", "must be a JSON object");
  }
  if (text.length * 3 > LIMITS.valueBytes && utf8Length(compactJson(text)) > LIMITS.valueBytes) {
    throw invalid("value", `must have at most ${LIMITS.valueBytes} bytes`);
  }
  return { key, text, tags: tagsOf(tags) };
}

function momentOf({ world, ttlSeconds }: Place): Moment {
  return { now: world.now(), ttlSeconds };
}

function referenceBody({ id, key, etag, createdAt, updatedAt }: StoredItem): object {
  return { id, object: "state_store.item", key, etag, created_at: createdAt, updated_at: updatedAt };
}
