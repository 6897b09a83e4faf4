import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

/** What a registry answers to the paths of some packages, by path: a manifest as JSON text, or the bytes of a tarball. */
export function answers(packed, origin) {
  const found = new Map();
  for (const { manifest, tarball } of packed) {
    const { name, version } = manifest;
    // npm keeps what it fetched by address, so another content has another one.
    const path = `/${name}/-/${createHash("sha256").update(tarball).digest("hex")}.tgz`;
    const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    const dist = { tarball: origin + path, integrity };
    const about = { name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist } } };
    found.set(path, tarball);
    found.set(`/${name}`, JSON.stringify(about));
  }
  return found;
}

/** Serves packed packages on this machine until `stop()`: `{ url, stop }`. */
export async function serve(packed) {
  let known = new Map();
  const server = createServer(({ url }, response) => {
    const answer = known.get(decodeURIComponent(new URL(url, "http://localhost").pathname));
    response.writeHead(answer === undefined ? 404 : 200, {
      "content-type": typeof answer === "string" ? "application/json" : "application/octet-stream",
      "cache-control": "no-store",
    });
    response.end(answer ?? "");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${server.address().port}`;
  known = answers(packed, origin);
  const stop = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  return { url: `${origin}/`, stop };
}
