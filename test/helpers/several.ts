/** Tuples of a few. */
interface Few<Kind> {
  1: [Kind];
  2: [Kind, Kind];
  3: [Kind, Kind, Kind];
  4: [Kind, Kind, Kind, Kind];
  5: [Kind, Kind, Kind, Kind, Kind];
  6: [Kind, Kind, Kind, Kind, Kind, Kind];
}

/** So many of one kind: a tuple where they are few, and a list otherwise. */
export type Several<Kind, Count extends number> = Count extends keyof Few<Kind>
  ? Few<Kind>[Count]
  : Kind[];

/** Makes several, one after another. */
export async function inTurn<Kind, Count extends number>(
  count: Count,
  make: () => Promise<Kind>,
): Promise<Several<Kind, Count>> {
  const made: Kind[] = [];
  while (made.length < count) made.push(await make());
  return made as Several<Kind, Count>;
}
