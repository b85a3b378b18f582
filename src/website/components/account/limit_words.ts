type Cents = number | null | "wrong";

/** The times of loss limits. */
export const periods = [
  { name: "day", label: "A day", words: "a day", limitName: "daily limit" },
  { name: "week", label: "7 days", words: "7 days", limitName: "7-day limit" },
  { name: "month", label: "30 days", words: "30 days", limitName: "30-day limit" },
] as const;

export type Period = (typeof periods)[number]["name"];

/**
 * A warning where the limit of a shorter time is above that of a longer one, which it then never
 * reaches: it may be a slip, and raising a limit takes a day.
 */
export function higherThanLonger(cents: Record<Period, Cents>): string | undefined {
  for (const [index, longer] of periods.entries()) {
    const limit = cents[longer.name];
    if (typeof limit !== "number") continue;
    const above = periods.slice(0, index).find(({ name }) => Number(cents[name] ?? 0) > limit);
    if (above !== undefined) {
      return (
        `The limit of ${above.words} is above that of ${longer.words}, so it changes nothing. ` +
        "Is this what you mean? A limit that you lower holds at once; raising it again takes 24 hours."
      );
    }
  }
  return undefined;
}
