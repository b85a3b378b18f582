create table trading.resolutions (
  id bigint generated always as identity primary key,
  market_id bigint not null references catalog.markets (id),
  journal_id bigint references ledger.journals (id),
  outcome catalog.outcome not null,
  yes_payout_cents int not null,
  corrects_resolution_id bigint references trading.resolutions (id),
  reason text,
  position_count int not null,
  payout_cents core.amount not null,
  created_at timestamptz not null,
  constraint resolutions_are_corrected_once unique (corrects_resolution_id),
  constraint resolutions_pay_what_the_outcome_says check (
    case outcome
      when 'yes' then yes_payout_cents = 100
      when 'no' then yes_payout_cents = 0
      when 'custom' then yes_payout_cents between 0 and 100
    end
  ),
  constraint resolutions_that_correct_have_a_reason check (
    (corrects_resolution_id is null) = (reason is null)
    and (reason is null or reason ~ '\S' and length(reason) <= 1000)
  )
);

create unique index resolutions_begin_once_in_a_market on trading.resolutions (market_id)
  where corrects_resolution_id is null;
create index resolutions_of_a_market on trading.resolutions (market_id, id);

create trigger resolutions_are_append_only
  before update or delete or truncate on trading.resolutions
  for each statement execute function ledger.refuse_change();

comment on table trading.resolutions is
  'How markets were resolved and corrected. The last one of a market is the one that holds; each '
  'but the first corrects the one before. Append-only.';
comment on column trading.resolutions.journal_id is
  'The settlement, or the correction, that moved the cash; null when none had to move.';
comment on column trading.resolutions.yes_payout_cents is
  'What a YES share pays, 0-100 cents; a NO share pays the rest.';
comment on column trading.resolutions.payout_cents is
  'What the positions are paid in all; of a correction too the whole, and not the difference.';
