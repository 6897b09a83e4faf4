/** True for an object with functions under all of these names: a driver's client or credential, whichever copy of the driver made it. */
export function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  return (
    typeof value === "object" && value !== null && names.every((name) => typeof Reflect.get(value, name) === "function")
  );
}
