create table catalog.market_listings (
  category_id bigint not null,
  list text not null,
  market_id bigint not null references catalog.markets (id) on delete cascade,
  close_time timestamptz not null,
  volume_cents bigint not null,
  primary key (category_id, list, market_id),
  constraint market_listings_are_of_a_list check (list in ('open', 'closed', 'all'))
);

create index market_listings_by_close_time
  on catalog.market_listings (category_id, list, close_time, market_id desc);
create index market_listings_by_volume
  on catalog.market_listings (category_id, list, volume_cents desc, market_id desc);

comment on table catalog.market_listings is
  'The lists in which a market stands: by its status and of all statuses, in its category and in '
  'all categories. So a page of a list is a range of an index, however many markets there are. '
  'Kept by a trigger of catalog.markets.';
comment on column catalog.market_listings.category_id is '0: the list has all categories.';
comment on column catalog.market_listings.list is
  'open, closed (resolved ones too) or all; a paused market stands in all only.';
comment on column catalog.market_listings.close_time is 'infinity: the market has none.';
comment on column catalog.market_listings.volume_cents is
  'Volume of both sides when jobs.make_candles() last ran. The volume of trading.market_state '
  'changes with each trade, so no index is on it.';
