create table identity.sessions (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  user_id bigint not null references identity.users (id),
  cookie_hash bytea not null,
  created_at timestamptz not null default core.now(),
  expires_at timestamptz not null,
  browser text,
  last_seen_at timestamptz,
  last_address inet,
  visit_started_at timestamptz not null default core.now(),
  reminded_at timestamptz,
  constraint sessions_public_id_is_unique unique (public_id),
  constraint sessions_cookie_hash_is_unique unique (cookie_hash),
  constraint sessions_cookie_hash_is_a_sha256 check (length(cookie_hash) = 32),
  constraint sessions_expire_after_they_are_made check (expires_at > created_at)
);

create index sessions_of_a_user on identity.sessions (user_id);
create index sessions_by_expiry on identity.sessions (expires_at);

comment on table identity.sessions is
  'Browsers that are logged in on the website. A session that ends is deleted. Of the browser''s '
  'cookie only the SHA-256 is kept.';
comment on column identity.sessions.browser is
  'What the browser called itself when it signed in; null: unknown.';
comment on column identity.sessions.last_seen_at is
  'When a page of the session last asked for a token, to the minute, or it began.';
comment on column identity.sessions.last_address is
  'From where that was; null: not known.';
comment on column identity.sessions.visit_started_at is
  'Since when its pages have been looked at without a break of more than 30 minutes.';
comment on column identity.sessions.reminded_at is
  'When the user last went on after a reality check, or chose how often it comes; null: never.';
