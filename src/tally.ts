/** Numbers by their keys. A key without a number has 0, and 0 is not kept. */
export interface Tally {
  of: (key: string) => number;
  add: (key: string, by: number) => void;
  isEmpty: () => boolean;
  keys: () => Iterable<string>;
}

export function createTally(): Tally {
  const numbers = new Map<string, number>();
  return {
    of: (key) => numbers.get(key) ?? 0,
    add: (key, by) => {
      const number = (numbers.get(key) ?? 0) + by;
      if (number === 0) numbers.delete(key);
      else numbers.set(key, number);
    },
    isEmpty: () => numbers.size === 0,
    keys: () => numbers.keys(),
  };
}
