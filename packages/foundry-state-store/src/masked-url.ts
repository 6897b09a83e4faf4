/** The fixed words of both surfaces, and what is asked there; everything else in a path is somebody's name. */
const KNOWN_PATH = /\/(storage|agents\/[^/]+\/endpoint)\/state_stores(\/.*)?$/;

/**
 * A URL as it may be logged: without its host and project, with `*` for the names of stores and keys, and of the query
 * with nothing but the version.
 */
export function maskedUrl(url: string): string {
  const [path = "", query = ""] = url.split("?", 2);
  const [, surface, rest = ""] = KNOWN_PATH.exec(path) ?? [];
  if (surface === undefined) {
    return "***";
  }
  const shown = surface === "storage" ? surface : "agents/*/endpoint";
  const [version] = /(?<=^|&)api-version=v\d{1,3}(?=&|$)/.exec(query) ?? [];
  const segments = rest.split("/").slice(1).map(masked).join("");
  return `***/${shown}/state_stores${segments}${version === undefined ? "" : `?${version}`}`;
}

function masked(segment: string, index: number): string {
  return index === 1 && (segment === "items" || segment === "items:keys") ? `/${segment}` : "/*";
}
