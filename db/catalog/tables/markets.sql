create table catalog.markets (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  category_id bigint not null references catalog.categories (id),
  event_id bigint references catalog.events (id),
  title text not null,
  description text not null default '',
  status catalog.market_status not null default 'open',
  close_time timestamptz,
  resolved_outcome catalog.outcome,
  yes_payout_cents int,
  resolved_at timestamptz,
  thumbnail_id uuid,
  thumbnail_url text,
  created_at timestamptz not null default core.now(),
  words tsvector,
  open_time timestamptz,
  outcome_name text,
  "position" int,
  rules text,
  source_url text,
  constraint markets_public_id_is_unique unique (public_id),
  constraint markets_title_is_not_blank check (not core.is_blank(title) and length(title) <= 300),
  constraint markets_have_an_outcome_once_resolved check (
    (status = 'resolved') = (resolved_outcome is not null)
    and (status = 'resolved') = (yes_payout_cents is not null)
    and (status = 'resolved') = (resolved_at is not null)
  ),
  constraint markets_pay_what_the_outcome_says
    check (catalog.is_payout_of(resolved_outcome, yes_payout_cents)),
  constraint markets_open_by_themselves_while_paused
    check (open_time is null or status = 'paused'),
  constraint markets_open_before_they_close check (open_time < close_time),
  constraint markets_open_at_a_moment check (isfinite(open_time)),
  constraint markets_have_an_outcome_name_and_place_in_an_event
    check (event_id is not null or outcome_name is null and "position" is null),
  constraint markets_outcome_name_is_not_blank
    check (not core.is_blank(outcome_name) and length(outcome_name) <= 100),
  constraint markets_have_a_place_from_1_to_1000000 check ("position" between 1 and 1000000),
  constraint markets_rules_are_not_blank check (not core.is_blank(rules) and length(rules) <= 4000),
  constraint markets_source_is_an_address_of_the_web check (core.is_web_address(source_url)),
  constraint markets_thumbnail_is_an_address_of_the_web
    check (core.is_web_address(thumbnail_url))
);

create index markets_of_a_category on catalog.markets (category_id, status, id);
create index markets_of_an_event on catalog.markets (event_id, id) where event_id is not null;
create index markets_that_will_close on catalog.markets (close_time)
  where status in ('open', 'paused') and close_time is not null;

create index markets_that_will_open on catalog.markets (open_time)
  where open_time is not null;

create index markets_by_words on catalog.markets using gin (words);

create trigger markets_have_words
  before insert or update of title, event_id on catalog.markets
  for each row execute function catalog.set_words();

create trigger markets_are_counted
  after insert or delete or update of category_id, status on catalog.markets
  for each row execute function catalog.count_market();

create trigger markets_are_listed
  after insert or delete or update of category_id, status, close_time on catalog.markets
  for each row execute function catalog.list_market();

create trigger markets_list_their_event
  after insert or delete or update of status, close_time on catalog.markets
  for each row execute function catalog.list_event();

comment on table catalog.markets is
  'Binary questions. What trading moves (prices, volumes, version) is in trading.market_state.';
comment on column catalog.markets.yes_payout_cents is
  'What a YES share was paid at resolution, 0-100; a NO share got the rest.';
comment on column catalog.markets.open_time is
  'When a paused market opens by itself; null: an operator opens it.';
comment on column catalog.markets.outcome_name is
  'What the market is called among the outcomes of its event, such as a name; null: its title.';
comment on column catalog.markets."position" is
  'Its place in the event: by default one after the last. The event of a market never changes.';
comment on column catalog.markets.words is
  'The words of the titles of the market and its event, as they are and by their English stems, '
  'for the search. Kept by a trigger.';
comment on column catalog.markets.rules is
  'What decides the outcome, in words; null: nothing was given.';
comment on column catalog.markets.source_url is
  'Where the outcome will be read, an address that begins with http:// or https://; null: none.';
