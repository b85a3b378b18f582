import type { Damage } from "./damage.ts";

/** Ways to break what is kept of closed days. */
export const closedDayDamages: Damage[] = [
  [
    "figure of a closed day is that of the ledger",
    `update ledger.closed_figures set amount_cents = amount_cents + 1
     where item = 'closing' and account_kind = 'user_cash'`,
  ],
  [
    "figure of a closed day is that of the ledger",
    `insert into ledger.closed_figures (closed_day_id, account_kind, item, amount_cents)
     select max(id), 'user_cash', 'bonus', 1 from ledger.closed_days`,
  ],
  [
    "figure of a closed day is that of the ledger",
    "delete from ledger.closed_figures where item = 'opening' and account_kind = 'fee_revenue'",
  ],
  [
    "days are closed one after the other",
    "update ledger.closed_days set day = day + 1 where id = (select max(id) from ledger.closed_days)",
  ],
];
