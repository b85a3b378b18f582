create table trading.fee_schedules (
  id bigint generated always as identity primary key,
  category_id bigint references catalog.categories (id),
  market_id bigint references catalog.markets (id),
  taker_rate_bps int not null,
  effective_from timestamptz not null,
  created_at timestamptz not null default core.now(),
  constraint fee_schedules_have_one_scope check (category_id is null or market_id is null),
  constraint fee_schedules_never_exceed_the_proceeds check (taker_rate_bps between 0 and 10000)
);

create index fee_schedules_by_scope
  on trading.fee_schedules (market_id, category_id, effective_from desc, id desc);

create constraint trigger fee_schedules_are_committed_soon
  after insert on trading.fee_schedules
  deferrable initially deferred
  for each row execute function trading.check_fee_moment();

comment on table trading.fee_schedules is
  'Dated taker fees: a market''s own, else its category''s, else the default; of these the latest '
  'one in force. Exact fee of an order = taker_rate_bps x sum(quantity x p x (100 - p)) / 1000000 '
  'cents, rounded up once over all its fills.';
comment on column trading.fee_schedules.taker_rate_bps is
  'Basis points of quantity x p x (1 - p); up to 10000 a sale never pays more than it brings.';

insert into trading.fee_schedules (taker_rate_bps, effective_from) values (700, '-infinity');
