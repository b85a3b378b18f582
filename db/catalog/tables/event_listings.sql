create table catalog.event_listings (
  event_id bigint primary key references catalog.events (id) on delete cascade,
  list text not null,
  close_time timestamptz not null,
  volume_cents bigint not null,
  constraint event_listings_are_of_a_list check (list in ('open', 'closed', 'none'))
);

create index event_listings_by_event on catalog.event_listings (list, event_id desc);
create index event_listings_by_close_time
  on catalog.event_listings (list, close_time, event_id desc);
create index event_listings_by_volume
  on catalog.event_listings (list, volume_cents desc, event_id desc);

comment on table catalog.event_listings is
  'The list in which an event that has markets stands, by their status. So a page of a list is a '
  'range of an index, however many events there are. Kept by a trigger of catalog.markets.';
comment on column catalog.event_listings.list is
  'open: at least one of its markets is; closed: all of them are, or are resolved; none: the '
  'others, such as paused ones.';
comment on column catalog.event_listings.close_time is
  'The first of its open markets, or of all if none is open; infinity: there is none.';
comment on column catalog.event_listings.volume_cents is
  'The sum of the volumes in catalog.market_listings.';
