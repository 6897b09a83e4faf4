import { manifest, write } from "./workspace-fixture.mjs";

/**
 * A checkout of small built packages that can be packed: `core`, and backends that are nothing but an example.
 * `backends` maps a folder's name to `{ code, types?, readme?, floor?, manifest?, more? }`, `more` being further files.
 */
export function builtCheckout({ core, coreVersion, coreManifest = {}, backends = {} }) {
  const files = {
    "package.json": { name: "agentfw", private: true },
    "pnpm-workspace.yaml": "packages:\n  - packages/*\n",
    ...builtPackage("core", { code: core, manifest: { version: coreVersion, ...coreManifest } }),
  };
  for (const [name, backend] of Object.entries(backends)) {
    const peerDependencies = { "@agentfw/core": backend.floor ?? "^1.4.0" };
    Object.assign(
      files,
      builtPackage(name, { ...backend, manifest: { version: "1.0.0", peerDependencies, ...backend.manifest } }),
    );
  }
  return write(files);
}

function builtPackage(name, { code, types, readme = "", manifest: fields, more = {} }) {
  const folder = `packages/${name}`;
  const declared = [...code.matchAll(/export const (\w+)/g)].map(
    ([, constant]) => `export declare const ${constant}: number;`,
  );
  return {
    [`${folder}/package.json`]: manifest(name, fields),
    [`${folder}/LICENSE`]: "MIT",
    [`${folder}/README.md`]: readme,
    ...Object.fromEntries(Object.entries(more).map(([path, content]) => [`${folder}/${path}`, content])),
    [`${folder}/dist/index.js`]: code,
    [`${folder}/dist/index.d.ts`]: types ?? `${declared.join("\n")}\n`,
  };
}

/** A README with one example. */
export function readmeWith(code) {
  return `# A package\n\n\`\`\`ts run\n${code}\n\`\`\`\n`;
}
