create unlogged table identity.session_tokens (
  token_hash bytea primary key,
  session_id bigint not null references identity.sessions (id) on delete cascade,
  expires_at timestamptz not null,
  constraint session_tokens_hash_is_a_sha256 check (length(token_hash) = 32)
);

create index session_tokens_of_a_session on identity.session_tokens (session_id, expires_at);

comment on table identity.session_tokens is
  'Short-lived tokens with which the pages of a session call the API; only their SHA-256 is kept. '
  'They are deleted with their session. Unlogged: after a crash pages ask for new ones.';
