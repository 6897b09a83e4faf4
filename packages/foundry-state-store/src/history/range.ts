/** The whole numbers from one to another, both included. */
export function range(from: number, through: number): number[] {
  return Array.from({ length: Math.max(0, through - from + 1) }, (_, index) => from + index);
}
