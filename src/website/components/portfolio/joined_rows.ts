/**
 * The newest rows of a list, and behind them the older ones that were shown before; undefined if
 * the two do not meet.
 */
export function joinedRows<Item extends { id: string | number }>(
  newest: Item[],
  before: Item[],
): Item[] | undefined {
  const last = newest.at(-1);
  const place = before.findIndex(({ id }) => id === last?.id);
  return place === -1 ? undefined : [...newest, ...before.slice(place + 1)];
}
