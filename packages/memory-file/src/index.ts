export { FileSystemFileStore } from "./file-system-file-store.ts";
export { scopeSegment } from "./names.ts";
export type { FileSystemFileStoreOptions } from "./options.ts";
