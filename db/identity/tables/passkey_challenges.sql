create unlogged table identity.passkey_challenges (
  challenge bytea primary key,
  session_id bigint references identity.sessions (id) on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint passkey_challenges_are_one_for_each_session unique (session_id),
  constraint passkey_challenges_have_32_bytes check (length(challenge) = 32),
  constraint passkey_challenges_last_at_most_5_minutes
    check (expires_at - created_at between interval '0' and interval '5 minutes')
);

create index passkey_challenges_by_expiry on identity.passkey_challenges (expires_at);

comment on table identity.passkey_challenges is
  'Random bytes that a passkey must sign, each good once. Unlogged: after a crash pages ask for '
  'new ones.';
comment on column identity.passkey_challenges.session_id is
  'The session that adds a passkey; null: for a sign-in.';
