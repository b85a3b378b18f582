import type { Damage } from "./damage.ts";

/** Ways to break disputes, each with an invariant that must notice. */
export const disputesDamages: Damage[] = [
  [
    "dispute is by a user who held shares",
    `update trading.disputes set user_id = (
       select u.id from identity.users as u
       where not exists (select from trading.settlements as s where s.user_id = u.id)
       limit 1
     )
     where answered_at is null`,
  ],
  [
    "dispute is by a user who held shares",
    `delete from trading.settlements where resolution_id in (
       select d.resolution_id from trading.disputes as d
     )`,
  ],
  [
    "dispute was made while its resolution held",
    "update trading.disputes set created_at = created_at - interval '1 day'",
  ],
  [
    "dispute was made while its resolution held",
    `insert into trading.resolutions (
       market_id, outcome, yes_payout_cents, corrects_resolution_id, reason, position_count,
       payout_cents, created_at
     )
     select r.market_id, 'no', 0, r.id, 'it was not', r.position_count, r.payout_cents,
       d.created_at - interval '1 s'
     from trading.disputes as d
     join trading.resolutions as r on r.id = d.resolution_id`,
  ],
  [
    "dispute was answered as was called for",
    "update trading.disputes set answer = 'no' where answered_at is not null",
  ],
  [
    "dispute was answered as was called for",
    "update trading.disputes set answer = null, answered_at = null",
  ],
  [
    "dispute was answered as was called for",
    "update trading.disputes set answered_at = answered_at + interval '2 hours'",
  ],
  [
    "dispute was answered as was called for",
    "update trading.disputes set answer = 'yes', answered_at = core.now()",
  ],
];
