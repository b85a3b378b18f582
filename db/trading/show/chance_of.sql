create or replace function trading.chance_of(
  best_bid int, best_ask int, last_price int, out chance numeric, out kind text
)
language sql immutable
set search_path = pg_catalog, pg_temp
begin atomic
  select
    case
      when n.is_narrow then (chance_of.best_bid + chance_of.best_ask) / 2.0
      when chance_of.last_price is not null
        then least(
          greatest(chance_of.last_price, chance_of.best_bid), coalesce(chance_of.best_ask, 100)
        )
    end::numeric(4, 1),
    case
      when n.is_narrow then 'mid'
      when chance_of.last_price is not null then 'last'
      else 'none'
    end
  from (
    select coalesce(chance_of.best_ask - chance_of.best_bid <= 10, false) as is_narrow
  ) as n;
end;

comment on function trading.chance_of(int, int, int) is
  'What a market''s prices say of YES, 1 to 99, in YES prices: the middle of bid and ask while '
  'they are at most 10 cents apart (kind mid); else the last price, held between bid and ask '
  '(last); null before the first trade (none).';
