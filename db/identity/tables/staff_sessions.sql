create table identity.staff_sessions (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  staff_id bigint not null references identity.staff (id),
  cookie_hash bytea not null,
  created_at timestamptz not null default core.now(),
  expires_at timestamptz not null,
  browser text,
  last_address inet,
  constraint staff_sessions_public_id_is_unique unique (public_id),
  constraint staff_sessions_cookie_hash_is_unique unique (cookie_hash),
  constraint staff_sessions_cookie_hash_is_a_sha256 check (length(cookie_hash) = 32),
  constraint staff_sessions_last_at_most_12_hours
    check (expires_at - created_at between interval '1 second' and interval '12 hours')
);

create index staff_sessions_of_a_member on identity.staff_sessions (staff_id);

comment on table identity.staff_sessions is
  'Browsers in which staff are signed in. A session that ends is deleted.';
comment on column identity.staff_sessions.cookie_hash is
  'SHA-256 of the SHA-256 of the cookie, as identity.staff_keys.key_hash.';
comment on column identity.staff_sessions.browser is
  'What the browser called itself when it signed in; null: unknown.';
comment on column identity.staff_sessions.last_address is
  'From where it signed in; null: not known.';
