import { decodeSegment } from "../protocol.ts";
import { invalid, notFound } from "./replies.ts";

/** What a path leads to. */
export interface Route {
  /** The container's own surface, or that of an agent, which is in preview. */
  readonly surface: "container" | "agent";
  /** What comes before the surface; each project has stores of its own. */
  readonly project: string;
  readonly resource: "stores" | "store" | "items" | "item" | "keys";
  readonly store: string;
  readonly key: string;
}

const CONTAINER = /^(.*)\/storage\/state_stores(\/.*)?$/;
const AGENT = /^(.*)\/agents\/[^/]+\/endpoint\/state_stores(\/.*)?$/;

/** Reads a path. @throws a refusal with 404, or with 400 for a segment that encodes no name */
export function routeOf(path: string): Route {
  const agent = AGENT.exec(path);
  const found = agent ?? CONTAINER.exec(path);
  if (found === null) {
    throw notFound("path");
  }
  const [, project = "", rest = ""] = found;
  const segments = rest === "" ? [] : rest.slice(1).split("/");
  const base = { surface: agent === null ? ("container" as const) : ("agent" as const), project, store: "", key: "" };
  const [store, kind, key] = segments;
  if (store === undefined) {
    return { ...base, resource: "stores" };
  }
  if (store === "" || segments.length > 3 || key === "") {
    throw notFound("path");
  }
  const named = { ...base, store: nameOf(store, "name") };
  if (kind === undefined) {
    return { ...named, resource: "store" };
  }
  if (kind === "items" && key !== undefined) {
    return { ...named, resource: "item", key: nameOf(key, "key") };
  }
  if ((kind === "items" || kind === "items:keys") && key === undefined) {
    return { ...named, resource: kind === "items" ? "items" : "keys" };
  }
  throw notFound("path");
}

function nameOf(segment: string, param: "name" | "key"): string {
  const name = decodeSegment(segment);
  if (name === undefined) {
    throw invalid(param, "must be base64url without padding");
  }
  return name;
}
