export { FileMemoryProvider, type FileMemoryProviderOptions } from "./file-memory-provider.ts";
export { FileSystemFileStore } from "./file-system-file-store.ts";
export type { MemoryScope } from "./memory-scope.ts";
export { scopeSegment } from "./names.ts";
export type { FileSystemFileStoreOptions } from "./options.ts";
