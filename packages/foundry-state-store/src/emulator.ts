export type { EmulatorOptions, StateStoreEmulator } from "./emulator/emulator.ts";
export { startEmulator } from "./emulator/emulator.ts";
export type { EmulatorLog, EmulatorLogEntry } from "./emulator/server.ts";
