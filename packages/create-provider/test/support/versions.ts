/** The version that a package has once it is released: none is yet, and the first release makes all of them 0.1.0. */
export function releaseVersion(version: string): string {
  return version === "0.0.0" ? "0.1.0" : version;
}

/** True when a range such as `^0.1.2` admits a version. */
export function admits(range: string, version: string): boolean {
  const floor = numbers(range.replace(/^\^/, ""));
  const candidate = numbers(version);
  const fixed = Math.max(
    0,
    floor.findIndex((number) => number > 0),
  );
  const isSameLine = floor.slice(0, fixed + 1).every((number, index) => number === candidate[index]);
  const difference = floor.findIndex((number, index) => number !== candidate[index]);
  return (
    /^\^\d/.test(range) && isSameLine && (difference < 0 || (candidate[difference] ?? 0) > (floor[difference] ?? 0))
  );
}

function numbers(version: string): number[] {
  return version.split(".").map(Number);
}
