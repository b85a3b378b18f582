import type { OwnProfile } from "../../api/types.ts";

/** A loss limit that is set, and what is left of it as the page knows it. */
interface LimitLeft {
  name: string;
  limitCents: number;
  leftCents: number;
}

/** The loss limit of which the least is left, of two the longer one; undefined if none is set. */
export function scarcestLimit({ day, week, month }: OwnProfile["limits"]): LimitLeft | undefined {
  return Object.entries({ month, week, day })
    .flatMap(([name, { limitCents, usedCents }]) =>
      limitCents === null
        ? []
        : [{ name, limitCents, leftCents: Math.max(0, limitCents - usedCents) }],
    )
    .sort((one, other) => one.leftCents - other.leftCents)[0];
}
