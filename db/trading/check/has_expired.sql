create or replace function trading.has_expired(
  market_id bigint, expires_at timestamptz, at timestamptz
)
returns boolean
language sql stable
return has_expired.expires_at <= has_expired.at and not exists (
  select
  from catalog.markets as m
  where m.id = has_expired.market_id
    and m.close_time <= has_expired.expires_at
);

comment on function trading.has_expired(bigint, timestamptz, timestamptz) is
  'Whether an order expires, if it ends at a time: its expiry has come, and was before the close '
  'time of its market. Null or false if not.';
