/** Numbers from 0 up to, not including, 1; the same ones for the same seed. */
export type Random = () => number;

/** A small generator (xorshift with a multiplication) that is even enough to shuffle and to pick words with. */
export function seededRandom(seed: number): Random {
  // Zero would stay zero for ever.
  let state = Math.imul(seed ^ 0x5f356495, 0x2c1b3c6d) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (Math.imul(state, 0x1b873593) >>> 0) / 2 ** 32;
  };
}

/** A copy in an order in which every order is as likely as any other. */
export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const left = [...items];
  const result: T[] = [];
  while (left.length > 0) {
    result.push(...left.splice(Math.floor(random() * left.length), 1));
  }
  return result;
}
