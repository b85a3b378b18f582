import type { Mutation } from "./mutation.ts";

const tests = ["db/jobs/value_accounts", "db/jobs/value_accounts_random"];
const bids = "trading/show/closing_bids.sql";
const values = "trading/show/exit_values_at.sql";

/** Accounts at the ends of days. */
export const dayValues: Mutation[] = [
  {
    name: "bid_cancelled_after_a_fill",
    breaks: "an order that was filled in part and cancelled after midnight is no bid of midnight",
    file: bids,
    from: "      and e.filled_quantity > 0\n",
    to: "      and e.filled_quantity < 0\n",
    tests,
  },
  {
    name: "bid_filled_after_midnight",
    breaks: "an order that was filled after midnight is no bid of midnight",
    file: bids,
    from: "    where e.status = 'filled'\n",
    to: "    where e.status = 'cancelled'\n",
    tests,
  },
  {
    name: "bid_that_had_expired",
    breaks: "an order that expired before midnight and is not swept is a bid of midnight",
    file: bids,
    from: "        and (o.expires_at is null or o.expires_at >= closing_bids.at)\n",
    to: "",
    tests,
  },
  {
    name: "bid_that_expires_at_midnight",
    breaks: "an order that expires at midnight is no bid of the day before",
    file: bids,
    from: "      and (e.expires_at is null or e.expires_at >= closing_bids.at)\n",
    to: "      and (e.expires_at is null or e.expires_at > closing_bids.at)\n",
    tests,
  },
  {
    name: "bid_placed_after_midnight",
    breaks: "an order that was placed after midnight is a bid of midnight",
    file: bids,
    from: "        and coalesce(o.released_at, o.created_at) < closing_bids.at\n",
    to: "",
    tests,
  },
  {
    name: "value_without_voided_trades",
    breaks: "a trade that is voided after midnight changes what was held at midnight",
    file: values,
    from: "    where v.created_at >= exit_values_at.at\n",
    to: "    where false\n",
    tests,
  },
  {
    name: "value_without_voided_markets",
    breaks: "a market that is voided after midnight had no shares at midnight",
    file: values,
    from: "    join trading.voided_positions as p on p.void_id = v.id\n",
    to: "    join trading.voided_positions as p on p.void_id = -v.id\n",
    tests,
  },
  {
    name: "value_of_a_seller_of_no",
    breaks: "a sale after midnight gives back shares of the wrong side",
    file: values,
    from: "else case when f.is_yes then m.no_bid else m.yes_bid end",
    to: "else case when f.is_yes then m.yes_bid else m.no_bid end",
    tests,
  },
  {
    name: "value_with_later_sets",
    breaks: "sets made after midnight count as held at midnight",
    file: values,
    from: "    where c.created_at >= exit_values_at.at\n",
    to: "    where false\n",
    tests,
  },
  {
    name: "value_of_an_unsettled_day",
    breaks: "a day is valued while orders of before midnight may not have committed",
    file: "jobs/functions/value_accounts.sql",
    from: "interval := '10 minutes'",
    to: "interval := '0 minutes'",
    tests,
  },
  {
    name: "value_of_an_unfinished_day",
    breaks: "a day has a row before the values of all users are written",
    file: "api/functions/get_account_value.sql",
    from: "      and d.finished_at is not null\n",
    to: "",
    tests,
  },
];
