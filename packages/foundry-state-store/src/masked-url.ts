/** The fixed words of both surfaces; everything else in a path is somebody's name. */
const SURFACES = [
  { pattern: /\/storage\/state_stores(?=\/|$)/, shown: "/storage/state_stores" },
  { pattern: /\/agents\/[^/]+\/endpoint\/state_stores(?=\/|$)/, shown: "/agents/*/endpoint/state_stores" },
];

/**
 * A URL as it may be logged: without its host and project, with `*` for the names of stores and keys, and of the query
 * with nothing but the version.
 */
export function maskedUrl(url: string): string {
  const [path = "", query = ""] = url.split("?", 2);
  for (const { pattern, shown } of SURFACES) {
    const found = pattern.exec(path);
    if (found !== null) {
      const rest = path
        .slice(found.index + found[0].length)
        .split("/")
        .slice(1);
      const version = new URLSearchParams(query).get("api-version");
      const isPlain = version !== null && /^v\d{1,3}$/.test(version);
      return `***${shown}${rest.map(masked).join("")}${isPlain ? `?api-version=${version}` : ""}`;
    }
  }
  return "***";
}

function masked(segment: string, index: number): string {
  return index === 1 && (segment === "items" || segment === "items:keys") ? `/${segment}` : "/*";
}
