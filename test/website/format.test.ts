import test from "ava";
import fc from "fast-check";
import {
  formatCents,
  formatChance,
  formatChange,
  formatPrice,
  formatShares,
  formatTradeTime,
  parseCount,
  parseEuros,
  formatClose,
} from "../../src/website/format.ts";

test("money is shown in euros and cents", (t) => {
  t.is(formatCents(123_456), "€1,234.56");
  t.is(formatCents(-5), "-€0.05");
  t.is(formatChange(100), "+€1.00");
  t.is(formatChange(0), "€0.00");
});

test("prices, chances and shares", (t) => {
  t.is(formatPrice(63), "63¢");
  t.is(formatPrice(36.256), "36.26¢");
  t.is(formatPrice(null), "–");
  t.is(formatChance(63), "63%");
  t.is(formatShares(1), "1 share");
  t.is(formatShares(1200), "1,200 shares");
});

test("amounts are read as people type them", (t) => {
  const read = { "12": 1200, "12.5": 1250, "12,50": 1250, " € 0.07 ": 7, "3€": 300 };
  for (const [text, cents] of Object.entries(read)) t.is(parseEuros(text), cents, text);
  // As the pages write them.
  const grouped = { "1,000.00": 100_000, "€1,234,567.8": 123_456_780, "1,000": 100_000 };
  for (const [text, cents] of Object.entries(grouped)) t.is(parseEuros(text), cents, text);
  // As other languages write them.
  const foreign = { "1.000,50": 100_050, "€ 1.234.567,8": 123_456_780, "999.999,00 €": 99_999_900 };
  for (const [text, cents] of Object.entries(foreign)) t.is(parseEuros(text), cents, text);
  const mixed = ["1.00,50", "1.000,500", "1.000,", "1,000,50", "1.000.50", "1000.000,50"];
  for (const text of mixed) t.is(parseEuros(text), undefined, text);
  const wrong = ["", "1.234", "1,00,000", "12,3456", "1000,000", ",100", "1,000,", "1,000.001"];
  for (const text of [...wrong, "-1", "1e3", "ten", "1..2", "1,000."]) {
    t.is(parseEuros(text), undefined, text);
  }
});

test("an amount that is shown and typed again is the same, to the cent", (t) => {
  const cents = fc.integer({ min: 0, max: 99_999_999_999 });
  fc.assert(
    fc.property(cents, (amount) => {
      const text = `${Math.floor(amount / 100)}.${String(amount % 100).padStart(2, "0")}`;
      t.is(parseEuros(text), amount);
    }),
  );
});

test("counts are whole numbers", (t) => {
  t.is(parseCount(" 10 "), 10);
  t.is(parseCount("10,000"), 10_000);
  for (const text of ["", "1.5", "1,5", "1,00", "1,000.", "-1", "1e3", "0x10"])
    t.is(parseCount(text), undefined, text);
});

test("a trade of the last day shows its time, an older one its day, with the year if that is over", (t) => {
  const now = new Date(2026, 10, 22, 15, 0);
  const soon = new Date(2026, 10, 23, 0, 1);
  t.regex(formatTradeTime(new Date(2026, 10, 22, 23, 59, 8).toISOString(), soon), /59:08/);
  const shown = (...time: [number, number, number]) =>
    formatTradeTime(new Date(...time, 14, 5, 9).toISOString(), now);
  t.regex(shown(2026, 10, 22), /5:09/);
  t.false(/2026|:/.test(shown(2026, 10, 21)));
  t.regex(shown(2026, 10, 21), /21/);
  t.regex(shown(2025, 10, 22), /2025/);
});

test("a close within two days shows its hour", (t) => {
  const now = new Date(2026, 10, 22, 15, 0);
  const shown = (...time: [number, number, number]) =>
    formatClose(new Date(...time, 14, 5).toISOString(), now);
  t.regex(shown(2026, 10, 24), /:05/);
  t.false(shown(2026, 10, 25).includes(":"));
});
