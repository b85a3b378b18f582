type Cents = number | null | "wrong";

const periods = [
  { name: "day", words: "a day" },
  { name: "week", words: "7 days" },
  { name: "month", words: "30 days" },
] as const;

/**
 * A warning where the limit of a shorter time is above that of a longer one, which it then never
 * reaches: it may be a slip, and raising a limit takes a day.
 */
export function higherThanLonger(
  cents: Record<(typeof periods)[number]["name"], Cents>,
): string | undefined {
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
