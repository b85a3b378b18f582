create table trading.trades (
  id bigint primary key,
  market_id bigint not null,
  taker_order_id bigint not null,
  maker_order_id bigint not null,
  taker_user_id bigint not null,
  maker_user_id bigint not null,
  taker_cents bigint not null,
  taker_balance_cents bigint not null,
  taker_version bigint not null,
  maker_cents bigint not null,
  maker_balance_cents bigint not null,
  maker_version bigint not null,
  escrow_balance_cents bigint not null,
  escrow_version bigint not null,
  revenue_balance_cents bigint not null,
  revenue_version bigint not null,
  taker_realised_cents bigint,
  maker_realised_cents bigint,
  fee_cents core.amount not null,
  fee_schedule_id bigint not null,
  created_at timestamptz not null,
  public_id uuid not null,
  quantity trading.trade_quantity not null,
  price trading.price not null,
  taker_side trading.side not null,
  constraint trades_have_two_traders check (taker_user_id <> maker_user_id)
) with (autovacuum_vacuum_insert_scale_factor = 0.05);

create index trades_of_a_market on trading.trades (market_id, id);
create index trades_of_a_taker on trading.trades (taker_user_id, id);
create index trades_of_a_maker on trading.trades (maker_user_id, id);
create index trades_of_a_maker_order on trading.trades (maker_order_id);
create index trades_of_a_taker_order on trading.trades (taker_order_id);
create index trades_by_public_id on trading.trades (public_id);

create trigger trades_are_append_only
  before update or delete or truncate on trading.trades
  for each statement execute function ledger.refuse_change();

comment on table trading.trades is
  'Every match, in YES price space. A trade is its own journal: what it moves on up to four '
  'accounts, the taker''s, the maker''s, the market''s escrow and its fee revenue, are columns, '
  'which ledger.entries shows as lines. A balance or version is that of the account after the '
  'trade, unchanged where the trade moves nothing there. Append-only. No foreign keys: see '
  'trading.active_orders.';
comment on column trading.trades.id is
  'Also the id of its journal, from ledger.journal_ids.';
comment on column trading.trades.taker_side is
  'Stored side of the taker; the maker''s is the other one.';
comment on column trading.trades.price is 'YES price, 1-99; the NO price is 100 - price.';
comment on column trading.trades.taker_cents is
  'What the trade moved on the taker''s account with the fee, below zero for a buyer; '
  'maker_cents likewise on the maker''s. Escrow gets what these two and the fee leave.';
comment on column trading.trades.fee_cents is
  'What this match added to the taker''s fee, in cents.';
comment on column trading.trades.taker_realised_cents is
  'What the taker realised by selling: proceeds - fee - cost taken out - buy fees taken out, in '
  'cents; null for a buyer. maker_realised_cents likewise.';
