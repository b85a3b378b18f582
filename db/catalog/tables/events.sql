create table catalog.events (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  category_id bigint not null references catalog.categories (id),
  title text not null,
  description text,
  starts_at timestamptz,
  ends_at timestamptz,
  live boolean not null default false,
  live_delay_ms int not null default 3000,
  thumbnail_id uuid,
  thumbnail_url text,
  created_at timestamptz not null default core.now(),
  exclusive boolean not null default false,
  escrow_cents bigint not null default 0,
  escrow_version core.amount not null default 0,
  constraint events_public_id_is_unique unique (public_id),
  constraint events_title_is_not_blank check (not core.is_blank(title) and length(title) <= 300),
  constraint events_end_after_their_start check (ends_at > starts_at),
  constraint events_start_and_end_at_a_moment_or_at_none
    check (isfinite(starts_at) and isfinite(ends_at)),
  constraint events_live_delay_is_sane check (live_delay_ms between 0 and 60000),
  constraint events_thumbnail_is_an_address_of_the_web
    check (core.is_web_address(thumbnail_url))
);

create index events_of_a_category on catalog.events (category_id, id);

create trigger events_are_counted
  after insert or delete or update of category_id on catalog.events
  for each row execute function catalog.count_event();

create trigger events_renew_words_of_their_markets
  after update of title on catalog.events
  for each row when (old.title <> new.title) execute function catalog.renew_words();

comment on table catalog.events is 'Real-world occurrences, each with one or more markets.';
comment on column catalog.events.live is
  'Live-traded: within [starts_at, ends_at) new orders wait live_delay_ms before they match.';
comment on column catalog.events.exclusive is
  'Exactly one of its markets resolves YES. No market comes to it, and this does not change, once '
  'shares were made in one of them or one is resolved (trading.check_exclusive_change).';
comment on column catalog.events.escrow_cents is
  'What conversions of its shares left over of the escrow of its markets, or took out of it beyond '
  'that, and what the resolutions of its markets then take or give: 0 once all are resolved '
  '(trading.verify_conversions). escrow_version is the number of entries of this account.';
