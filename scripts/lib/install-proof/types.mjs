import { join, relative } from "node:path";
import ts from "typescript";
import { root } from "../workspace.mjs";

const shared = {
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  types: ["node"],
  // The compiler and Node's own types are the checkout's: a project has them whatever it installs of ours.
  typeRoots: [join(root, "node_modules", "@types")],
};

/** The two ways in which today's projects find a module's types. */
export const resolutions = {
  nodenext: { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
  bundler: { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
};

// The standard library and Node's types are the same in every project, and are read once for each way.
const parsed = new Map();

/**
 * Checks some files of a project, and our declarations that they use, under one of the resolutions. What the
 * declarations of other packages get wrong is not ours to fail for. `file(line): message` for each error.
 */
export function typeProblems(folder, files, resolution) {
  const options = { ...shared, ...resolutions[resolution] };
  const program = ts.createProgram(files, options, cachingHost(options, resolution));
  const isOurs = ({ fileName }) => files.includes(fileName) || /node_modules\/@agentfw\/[^/]+\/dist\//.test(fileName);
  return program
    .getSourceFiles()
    .filter(isOurs)
    .flatMap((source) => [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)])
    .map((diagnostic) => sentence(folder, diagnostic));
}

function cachingHost(options, resolution) {
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  const checkout = join(root, "node_modules").replaceAll("\\", "/");
  host.getSourceFile = (fileName, ...rest) => {
    if (!fileName.startsWith(checkout)) return read(fileName, ...rest);
    const key = `${resolution}:${fileName}`;
    if (!parsed.has(key)) parsed.set(key, read(fileName, ...rest));
    return parsed.get(key);
  };
  return host;
}

function sentence(folder, { file, start, messageText }) {
  const { line } = file.getLineAndCharacterOfPosition(start ?? 0);
  const text = ts.flattenDiagnosticMessageText(messageText, " ");
  return `${relative(folder, file.fileName).replaceAll("\\", "/")}(${line + 1}): ${text}`;
}
