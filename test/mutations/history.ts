import type { Mutation } from "./mutation.ts";

/** The seals of history. */
export const history: Mutation[] = [
  {
    name: "seal_passes_open_transactions",
    breaks: "a block passes ids whose transaction may still commit",
    file: "ledger/functions/settled_ids.sql",
    from: "    where s.name::regclass <> all (v_busy);",
    to: "    where true;",
    tests: ["db/ledger/seal"],
  },
  {
    name: "seal_forgets_open_orders",
    breaks: "an order that was open when its ids were sealed gets no seal",
    file: "ledger/functions/seal.sql",
    from: "    v_block.ended_order_ids := ledger.ended_orders(seal.most);",
    to: "    v_block.ended_order_ids := '{}';",
    tests: ["db/ledger/seal"],
  },
  {
    name: "seal_without_the_block_before",
    breaks: "a block does not have the hash of the one before",
    file: "ledger/functions/seal.sql",
    from: "  v_block.previous_hash := v_last.hash;",
    to: "  v_block.previous_hash := case when v_last.number is not null then sha256('') end;",
    tests: ["db/ledger/seal"],
  },
  {
    name: "seal_depends_on_the_time_zone",
    breaks: "the hash of a row depends on the time zone of the session",
    file: "ledger/functions/hash_ranges.sql",
    from: "set timezone = 'UTC'\n",
    to: "",
    tests: ["db/ledger/seal"],
  },
];
