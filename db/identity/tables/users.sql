create table identity.users (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  email text not null,
  display_name text not null,
  handle text not null,
  avatar_url text,
  private boolean not null default false,
  leaderboard_opt_out boolean not null default false,
  browser_generation int not null default 0,
  created_at timestamptz not null default core.now(),
  erased_at timestamptz,
  reality_check_minutes int,
  constraint users_public_id_is_unique unique (public_id),
  constraint users_email_looks_like_one check (identity.is_email(email)),
  constraint users_display_name_is_not_blank
    check (not core.is_blank(display_name) and length(display_name) <= 100),
  constraint users_handle_is_a_word check (identity.is_handle(handle)),
  constraint users_avatar_url_is_short check (length(avatar_url) <= 2000),
  constraint users_reality_check_comes_after_one_of_four_times
    check (reality_check_minutes in (15, 30, 60, 120))
);

create unique index users_email_is_unique on identity.users (lower(email collate "C"));
create unique index users_handle_is_unique on identity.users (lower(handle collate "C"));

comment on table identity.users is
  'Traders. Their cash, their checks and their limits are in trading.traders.';
comment on column identity.users.private is
  'A private profile: its name is withheld from the market stream and the leaderboard.';
comment on column identity.users.erased_at is
  'When admin.erase_user took the names and the address away; null: it has not.';
comment on column identity.users.browser_generation is
  'Part of the mark of known browsers (api.get_browser_mark): with another one none is known.';
comment on column identity.users.reality_check_minutes is
  'After how much time on the website the user is reminded of it; null: never.';
