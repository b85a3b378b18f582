--! Previous: sha1:2fb15d9ab76f660ae18ab36763e71d9a8c51ac76
--! Hash: sha1:fb7fe40699a163ba5f6a0f11afced0c8aa4ebed0
--! Message: Accounts, lists and candles of the website

set local lock_timeout = '2s';
set local role exchange_owner;

alter table identity.sessions add column browser text, add column last_seen_at timestamptz;
comment on column identity.sessions.browser is
  'What the browser called itself when it signed in; null: unknown.';

comment on column identity.sessions.last_seen_at is
  'When a page of the session last asked for a token, to the minute; null: never.';

insert into core.error_codes (sqlstate, code, http_status, code_shown, message) values
  ('EX027', 'WRONG_ORIGIN', 403, true, 'The request comes from another site'),
  ('EX028', 'SIGN_UP_CLOSED', 403, true, 'Sign-up needs an invitation'),
  ('EX029', 'INVALID_LINK', 400, true, 'The link is not valid any more'),
  ('EX030', 'WRONG_CREDENTIALS', 401, false, 'Wrong e-mail or password'),
  ('EX031', 'WRONG_PASSWORD', 403, true, 'Wrong password'),
  ('EX032', 'EMAIL_UNCONFIRMED', 403, true, 'Confirm your e-mail address first'),
  ('EX033', 'INVALID_PASSKEY', 403, true, 'The passkey was not accepted'),
  ('EX034', 'SIGN_IN_AGAIN', 403, true, 'Sign in again first');
insert into rate_limits.buckets (bucket, max_requests, window_seconds) values
  ('sign-in', 30, 900),
  ('sign-in-account', 10, 900),
  ('sign-in-strangers', 100, 900),
  ('sign-up', 10, 3600),
  ('mail', 10, 3600),
  ('mail-account', 5, 3600);

--! Included catalog/functions/set_words.sql
create or replace function catalog.set_words()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text;
begin
  if tg_op = 'INSERT' then
    -- An event whose title is being changed does not see this market yet: its new title is waited
    -- for.
    perform
    from catalog.events as e
    where e.id = new.event_id
    for share; -- mutant: words_of_a_title_before
  end if;
  v_text := concat_ws(' ', new.title, (
    select e.title
    from catalog.events as e
    where e.id = new.event_id
  ));
  new.words := to_tsvector('simple', v_text) || to_tsvector('english', v_text);
  return new;
end
$$;

comment on function catalog.set_words() is
  'Trigger of catalog.markets: keeps the words by which a market is found. Locks: for a new '
  'market, the row of the event.';
--! EndIncluded catalog/functions/set_words.sql
comment on column catalog.markets.words is
  'The words of the titles of the market and its event, as they are and by their English stems, '
  'for the search. Kept by a trigger.';

create trigger markets_have_words
  before insert or update of title, event_id on catalog.markets
  for each row execute function catalog.set_words();
update catalog.markets set title = title;
--! Included catalog/functions/renew_words.sql
create or replace function catalog.renew_words()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform
  from catalog.markets as m
  where m.event_id = new.id
  order by m.id
  for no key update;
  -- The trigger of the markets makes their words anew.
  update catalog.markets as m set title = m.title
  where m.event_id = new.id;
  return null;
end
$$;

comment on function catalog.renew_words() is
  'Trigger of catalog.events: when the title of an event changes, its markets are found by the new '
  'one. Locks: the rows of the markets in catalog.markets, by ascending key, for which no trading '
  'waits.';
--! EndIncluded catalog/functions/renew_words.sql
create trigger events_renew_words_of_their_markets
  after update of title on catalog.events
  for each row when (old.title <> new.title) execute function catalog.renew_words();

--! Included identity/tables/settings.sql
create table identity.settings (
  singleton boolean primary key default true,
  sign_up_policy text not null default 'closed',
  play_money_cents core.amount not null default 0,
  changed_at timestamptz,
  decoy_secret bytea,
  constraint settings_is_one_row check (singleton),
  constraint settings_sign_up_policy_is_open_invitation_or_closed
    check (sign_up_policy in ('open', 'invitation', 'closed'))
);

comment on table identity.settings is 'Who may sign up on the website: one row.';
comment on column identity.settings.sign_up_policy is
  'open: every visitor; invitation: who has a link from admin.invite_user; closed: no visitor.';
comment on column identity.settings.play_money_cents is
  'What a new account gets at sign-up. Only the demo gives money away.';
comment on column identity.settings.changed_at is
  'When admin.set_sign_up was last called; null: never.';
comment on column identity.settings.decoy_secret is
  'Made at the first sign-in. Salts for e-mail addresses without an account are made from it, so '
  'that an address always has the same one.';

insert into identity.settings default values;
--! EndIncluded identity/tables/settings.sql
--! Included identity/tables/passwords.sql
create table identity.passwords (
  user_id bigint primary key references identity.users (id),
  password_hash text not null,
  changed_at timestamptz not null default core.now(),
  constraint passwords_are_argon2id_in_phc_form check (
    password_hash ~ '^\$argon2id\$v=19\$m=[0-9]+,t=[0-9]+,p=[0-9]+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$'
  )
);

comment on table identity.passwords is
  'Passwords of users who sign in on the website. A user without a row has none.';
comment on column identity.passwords.password_hash is
  'Argon2id in PHC form: parameters, salt and digest. Servers compute it. They can read the part '
  'before the digest, by api.get_password_settings; the database compares.';
--! EndIncluded identity/tables/passwords.sql
--! Included identity/tables/email_claims.sql
create table identity.email_claims (
  user_id bigint primary key references identity.users (id),
  email text not null,
  handle text,
  created_at timestamptz not null default core.now(),
  constraint email_claims_look_like_an_email
    check (email ~ '^[^@\s]+@[^@\s]+$' and length(email) <= 320),
  constraint email_claims_handle_is_a_word check (handle ~ '^[A-Za-z0-9_.-]{1,40}$')
);

create index email_claims_by_age on identity.email_claims (created_at);

comment on table identity.email_claims is
  'E-mail addresses that users gave and have not confirmed. They need not be unique: only a '
  'confirmed address is taken, so a claim does not show whether an address has an account.';
comment on column identity.email_claims.handle is
  'The handle that was asked for at sign-up, which the user also gets with the confirmation. Null: '
  'a user with a confirmed address asked for another address.';
--! EndIncluded identity/tables/email_claims.sql
--! Included identity/tables/links.sql
create table identity.links (
  token_hash bytea primary key,
  kind text not null,
  user_id bigint references identity.users (id),
  email text,
  created_at timestamptz not null default core.now(),
  expires_at timestamptz not null,
  constraint links_hash_is_a_sha256 check (length(token_hash) = 32),
  constraint links_are_of_a_known_kind
    check (kind in ('confirm_email', 'password_reset', 'sign_in', 'invitation')),
  constraint links_are_of_a_user_or_invitations check ((user_id is null) = (kind = 'invitation')),
  constraint links_name_the_address_that_they_prove
    check ((email is not null) = (kind in ('confirm_email', 'invitation')))
);

create index links_of_a_user on identity.links (user_id, kind);
create index links_of_an_invited_address on identity.links (lower(email collate "C"))
  where kind = 'invitation';
create index links_by_expiry on identity.links (expires_at);

comment on table identity.links is
  'The links in mails, each good once. The token itself is only in the mail; here is its SHA-256.';
comment on column identity.links.kind is
  'confirm_email proves an address, password_reset sets a password, sign_in opens a session, '
  'invitation allows to sign up with its address.';
--! EndIncluded identity/tables/links.sql
--! Included identity/tables/passkeys.sql
create table identity.passkeys (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  user_id bigint not null references identity.users (id),
  credential_id bytea not null,
  public_key bytea not null,
  sign_count bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null default core.now(),
  last_used_at timestamptz,
  constraint passkeys_public_id_is_unique unique (public_id),
  constraint passkeys_credential_id_is_unique unique (credential_id),
  constraint passkeys_credential_id_has_16_to_1023_bytes
    check (length(credential_id) between 16 and 1023),
  constraint passkeys_public_key_has_1_to_2000_bytes check (length(public_key) between 1 and 2000),
  constraint passkeys_sign_count_is_an_unsigned_32_bit_number
    check (sign_count between 0 and 4294967295),
  constraint passkeys_transports_are_known check (
    transports <@ array['ble', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']
    and cardinality(transports) <= 6
  ),
  constraint passkeys_name_is_not_blank check (name ~ '\S' and length(name) <= 100)
);

create index passkeys_of_a_user on identity.passkeys (user_id, id);

comment on table identity.passkeys is
  'Passkeys (WebAuthn) with which users sign in on the website. The private key never leaves the '
  'user''s device.';
comment on column identity.passkeys.credential_id is
  'Made by the device, which sends it with each signature.';
comment on column identity.passkeys.public_key is
  'The key that checks signatures, in COSE form. Servers read it by api.get_passkey.';
comment on column identity.passkeys.sign_count is
  'The signatures that the device had made at the last sign-in. Each sign-in must have a higher '
  'number, or a copy of the key was used; devices that do not count always send 0.';
comment on column identity.passkeys.transports is
  'How browsers reach the device, as the device said.';
comment on column identity.passkeys.last_used_at is 'The last sign-in; null: never.';
--! EndIncluded identity/tables/passkeys.sql
--! Included identity/tables/passkey_challenges.sql
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
--! EndIncluded identity/tables/passkey_challenges.sql
--! Included identity/tables/mails.sql
create table identity.mails (
  id bigint generated always as identity primary key,
  kind text not null,
  user_id bigint references identity.users (id),
  address text not null,
  details json not null default '{}',
  created_at timestamptz not null default core.now(),
  due_at timestamptz default core.now(),
  attempts int not null default 0,
  sent_at timestamptz,
  last_error text,
  constraint mails_are_due_until_they_are_sent check (sent_at is null or due_at is null)
);

create index mails_that_are_due on identity.mails (due_at) where due_at is not null;
create index mails_with_links_that_are_due on identity.mails (due_at)
  where due_at is not null and kind in ('confirm_email', 'password_reset', 'invitation');
create index mails_of_a_user on identity.mails (user_id, kind, created_at);
create index mails_that_were_given_up on identity.mails (id)
  where due_at is null and sent_at is null;
create index mails_by_age on identity.mails (created_at);

comment on table identity.mails is
  'The outbox of e-mail. The worker sends what is due (jobs.take_mail, jobs.finish_mail). A mail '
  'with a link has no token here: it is made when the mail is sent.';
comment on column identity.mails.kind is
  'Which mail: confirm_email, password_reset and invitation have a link; the others are notices.';
comment on column identity.mails.user_id is 'Whom it is about; null: no account is named.';
comment on column identity.mails.details is 'What the text names: no secret.';
comment on column identity.mails.due_at is
  'When it is sent, or tried again; null: it was sent or given up.';
--! EndIncluded identity/tables/mails.sql
--! Included trading/tables/order_replacements.sql
create table trading.order_replacements (
  order_id bigint primary key,
  replaced_order_id bigint not null,
  constraint order_replacements_are_of_different_orders check (order_id > replaced_order_id),
  constraint order_replacements_happen_once_to_an_order unique (replaced_order_id)
);

create trigger order_replacements_are_append_only
  before update or delete or truncate on trading.order_replacements
  for each statement execute function ledger.refuse_change();

comment on table trading.order_replacements is
  'Which order an amendment put in the place of which. Amendments before version 0.3.0 have no '
  'row. Append-only. No foreign keys: see trading.orders.';
--! EndIncluded trading/tables/order_replacements.sql
--! Included trading/tables/candles.sql
create table trading.candles (
  market_id bigint not null,
  width_minutes int not null,
  start_at timestamptz not null,
  open_price trading.price not null,
  high_price trading.price not null,
  low_price trading.price not null,
  close_price trading.price not null,
  quantity bigint not null,
  trade_count bigint not null,
  primary key (market_id, width_minutes, start_at),
  constraint candles_are_a_minute_an_hour_or_a_day_wide check (width_minutes in (1, 60, 1440)),
  constraint candles_lie_between_low_and_high check (
    low_price <= least(open_price, close_price) and high_price >= greatest(open_price, close_price)
  )
) with (fillfactor = 80);

comment on table trading.candles is
  'YES prices of trades by minute, hour and day (UTC), made of trading.trades by jobs.make_candles '
  'so that a chart does not read them. Without a trade there is no candle.';
comment on column trading.candles.quantity is 'Shares traded.';
--! EndIncluded trading/tables/candles.sql
--! Included trading/tables/candle_progress.sql
create table trading.candle_progress (
  market_id bigint primary key references catalog.markets (id),
  last_trade_id bigint not null default 0,
  trade_count bigint not null default 0
);

comment on table trading.candle_progress is
  'Up to which trade the candles of a market are made, and of how many trades. The ids of a '
  'market''s trades rise with time.';
--! EndIncluded trading/tables/candle_progress.sql

--! Included core/functions/raise_violation.sql
create or replace function core.raise_violation(constraint_name text, column_name text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform core.raise_error('INVALID_REQUEST', case raise_violation.constraint_name
    when '' then 'A value is required for ' || replace(raise_violation.column_name, '_', ' ')
    when 'categories_slug_is_url_safe' then
      'The slug must have from 1 to 60 characters: lower-case letters, digits and single hyphens '
      'between them; "all" is reserved'
    when 'categories_name_is_not_blank' then
      'The name must not be blank or longer than 100 characters'
    when 'events_title_is_not_blank' then
      'The title must not be blank or longer than 300 characters'
    when 'events_end_after_their_start' then 'The event must end after it starts'
    when 'events_start_and_end_at_a_moment_or_at_none' then
      'The start and the end of the event must not be infinite; null leaves them open'
    when 'events_live_delay_is_sane' then 'The live delay must be from 0 to 60000 milliseconds'
    when 'markets_title_is_not_blank' then
      'The title must not be blank or longer than 300 characters'
    when 'users_email_looks_like_one' then
      'The e-mail address must look like name@domain and have at most 320 characters'
    when 'email_claims_look_like_an_email' then
      'The e-mail address must look like name@domain and have at most 320 characters'
    when 'users_display_name_is_not_blank' then
      'The display name must not be blank or longer than 100 characters'
    when 'users_handle_is_a_word' then
      'The handle must have from 1 to 40 characters: letters, digits, dots, hyphens and underscores'
    when 'email_claims_handle_is_a_word' then
      'The handle must have from 1 to 40 characters: letters, digits, dots, hyphens and underscores'
    when 'settings_sign_up_policy_is_open_invitation_or_closed' then
      'The policy must be open, invitation or closed'
    when 'api_keys_name_is_not_blank' then
      'The name must not be blank or longer than 100 characters'
    when 'passkeys_name_is_not_blank' then
      'The name must not be blank or longer than 100 characters'
    when 'staff_keys_name_is_not_blank' then
      'The name must not be blank or longer than 100 characters'
    when 'staff_keys_role_is_analyst_or_operator' then 'The role must be analyst or operator'
    when 'rate_is_from_1_to_1000000' then
      'The requests per minute and the burst capacity must each be from 1 to 1000000'
    when 'max_requests_is_from_1_to_1000000000' then 'The maximum must be from 1 to 1000000000'
    when 'window_seconds_is_from_1_to_86400' then
      'The window must be from 1 to 86400 seconds long'
    else 'A value breaks the rule ' || raise_violation.constraint_name
  end);
end
$$;

comment on function core.raise_violation(text, text) is
  'Raises INVALID_REQUEST for a value that breaks a check constraint, or, with an empty '
  'constraint_name, for a column that must not be null. The message says what the rule is.';
--! EndIncluded core/functions/raise_violation.sql
--! Included core/functions/now.sql
create or replace function core.now()
returns timestamptz
language sql volatile parallel safe
return clock_timestamp();

comment on function core.now() is
  'The one clock of the exchange. Read once by each command, after it has the lock of its market, '
  'so that times never run against the order of its commits. Tests replace this function, and so '
  'does the embedded demo in the transaction that makes its history; nothing else can move it.';
--! EndIncluded core/functions/now.sql
--! Included identity/functions/raise_taken.sql
create or replace function identity.raise_taken(constraint_name text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform core.raise_error('ALREADY_EXISTS', case raise_taken.constraint_name
    when 'users_handle_is_unique' then 'This handle is taken'
    else 'This e-mail address has an account'
  end);
end
$$;

comment on function identity.raise_taken(text) is
  'Raises ALREADY_EXISTS for the unique constraint of identity.users that was violated.';
--! EndIncluded identity/functions/raise_taken.sql
--! Included catalog/functions/search_query.sql
create or replace function catalog.search_query(query text)
returns tsquery
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_words constant int := 10;
  v_word text;
  v_query tsquery;
  v_all tsquery;
begin
  -- The parser of PostgreSQL says what a word is, so nothing in the text is an operator.
  for v_word in
    select w.lexeme
    from unnest(to_tsvector('simple', search_query.query)) as w
    order by w.positions[1]
    limit c_most_words
  loop
    v_query := (
      '''' || replace(replace(v_word, chr(92), chr(92) || chr(92)), '''', '''''') || ''':*'
    )::tsquery || plainto_tsquery('english', v_word);
    v_all := case when v_all is null then v_query else v_all && v_query end;
  end loop;
  return coalesce(v_all, ''::tsquery);
end
$$;

comment on function catalog.search_query(text) is
  'What a search asks of catalog.markets.words: every one of up to 10 words, as the beginning of a '
  'word or in another form of it. A text without words finds nothing.';
--! EndIncluded catalog/functions/search_query.sql
--! Included identity/functions/lock_account.sql
create or replace function identity.lock_account(user_id bigint)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select
  from identity.users as u
  where u.id = lock_account.user_id
  for no key update -- mutant: account_not_locked
$$;

comment on function identity.lock_account(bigint) is
  'Locks the row of a user in identity.users, for which no trading waits. Who changes a password, '
  'an address or a passkey, or opens a session, locks it before all else of the account: then '
  'markets, the row in trading.traders, mails, links, the claim, the password, passkeys, sessions. '
  'So what was compared after it still holds at the commit, and a session that opens while the '
  'password changes ends with it or is refused.';
--! EndIncluded identity/functions/lock_account.sql
--! Included identity/functions/new_api_key.sql
create or replace function identity.new_api_key(prefix text)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Three random UUIDs hold 366 random bits; their SHA-256 is 32 random bytes.
  v_bytes bytea := sha256(
    uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
  );
  v_number numeric := 0;
  v_body text;
begin
  for i in 0 .. 31 loop
    v_number := v_number * 256 + get_byte(v_bytes, i);
  end loop;
  v_body := new_api_key.prefix || core.base62(v_number, 43);
  return v_body || core.base62(core.crc32(convert_to(v_body, 'UTF8')), 6);
end
$$;

comment on function identity.new_api_key(text) is
  'A new secret, of an API key (jk_), of an analyst''s or an operator''s key (ja_, jo_), of a '
  'session''s cookie (js_, or jh_ under https), of a session''s token (jt_) or of a link in a mail '
  '(jl_): the prefix, 32 random bytes in base62 (43 characters), and the CRC-32 of all that in '
  'base62 (6 characters), which shows without a look-up that a text is no key.';
--! EndIncluded identity/functions/new_api_key.sql
--! Included identity/functions/unconfirmed_email.sql
create or replace function identity.unconfirmed_email(public_id uuid)
returns text
language sql immutable parallel safe
return public_id::text || '@unconfirmed.invalid';

comment on function identity.unconfirmed_email(uuid) is
  'What stands in identity.users.email until the user has confirmed an address. No mail goes to '
  'it: the domain invalid never exists.';
--! EndIncluded identity/functions/unconfirmed_email.sql
--! Included identity/functions/is_confirmed.sql
create or replace function identity.is_confirmed("user" identity.users)
returns boolean
language sql immutable parallel safe
return ("user").email <> identity.unconfirmed_email(("user").public_id);

comment on function identity.is_confirmed(identity.users) is
  'Whether a user has an e-mail address that was confirmed, or that an operator gave.';
--! EndIncluded identity/functions/is_confirmed.sql
--! Included identity/functions/decoy_secret.sql
create or replace function identity.decoy_secret()
returns bytea
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_secret bytea := (select s.decoy_secret from identity.settings as s);
begin
  if v_secret is null then
    update identity.settings as s
    set decoy_secret = coalesce(
      s.decoy_secret, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
    )
    returning s.decoy_secret into v_secret;
  end if;
  return v_secret;
end
$$;

comment on function identity.decoy_secret() is
  'The secret from which salts for addresses without an account are made; the first call makes it. '
  'Locks: the first call, identity.settings.';
--! EndIncluded identity/functions/decoy_secret.sql
--! Included identity/functions/is_password.sql
create or replace function identity.is_password(user_id bigint, password_hash text)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  -- Hashes are compared, so the time taken says nothing about the digest.
  select coalesce(
    sha256(convert_to(coalesce(
      (
        select p.password_hash
        from identity.passwords as p
        where p.user_id = is_password.user_id
      ),
      ''
    ), 'UTF8')) = sha256(convert_to(is_password.password_hash, 'UTF8')),
    false
  ) and is_password.password_hash <> ''
$$;

comment on function identity.is_password(bigint, text) is
  'Whether a user has the password with this argon2id hash, in PHC form.';
--! EndIncluded identity/functions/is_password.sql
--! Included identity/functions/set_password.sql
create or replace function identity.set_password(user_id bigint, password_hash text)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into identity.passwords as p (user_id, password_hash, changed_at)
  values (set_password.user_id, set_password.password_hash, core.now())
  on conflict on constraint passwords_pkey do update
  set password_hash = excluded.password_hash, changed_at = excluded.changed_at
$$;

comment on function identity.set_password(bigint, text) is
  'Sets a user''s password, by its argon2id hash in PHC form. Locks: the row of the password.';
--! EndIncluded identity/functions/set_password.sql
--! Included identity/functions/queue_mail.sql
create or replace function identity.queue_mail(
  kind text, user_id bigint, address text, details json default '{}'
)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into identity.mails (kind, user_id, address, details, created_at, due_at)
  values (
    queue_mail.kind, queue_mail.user_id, queue_mail.address, queue_mail.details, core.now(),
    core.now()
  )
$$;

comment on function identity.queue_mail(text, bigint, text, json) is
  'Writes a mail into the outbox; it goes out after the commit.';
--! EndIncluded identity/functions/queue_mail.sql
--! Included identity/functions/notify_user.sql
create or replace function identity.notify_user(
  kind text, user_id bigint, details json default '{}'
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_a_day constant int := 20;
  v_at timestamptz := core.now();
begin
  -- One that a worker has taken is passed over, and not waited for.
  update identity.mails as m
  set details = notify_user.details
  where m.id = (
    select x.id
    from identity.mails as x
    join identity.users as u on u.id = x.user_id
    where x.user_id = notify_user.user_id
      and x.kind = notify_user.kind
      and x.due_at is not null
      and x.attempts = 0
      and x.address = u.email
    limit 1
    for update of x skip locked
  );
  if found then -- mutant: every_notice_is_sent
    return;
  end if;
  perform identity.queue_mail(notify_user.kind, u.id, u.email, notify_user.details)
  from identity.users as u
  where u.id = notify_user.user_id
    and identity.is_confirmed(u)
    and (
      select count(*)
      from identity.mails as m
      where m.user_id = notify_user.user_id
        and m.kind = notify_user.kind
        and m.created_at > v_at - interval '1 day'
    ) < c_most_a_day; -- mutant: notices_without_end
end
$$;

comment on function identity.notify_user(text, bigint, json) is
  'Writes a notice to a user into the outbox, unless the address is not confirmed yet. One of the '
  'same kind that waits gets these details instead, and there are at most 20 of a kind in 24 '
  'hours.';
--! EndIncluded identity/functions/notify_user.sql
--! Included identity/functions/make_link.sql
create or replace function identity.make_link(
  kind text, user_id bigint, email text, valid_for interval
)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_token text := identity.new_api_key('jl_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_token_hash bytea := sha256(convert_to(v_token, 'UTF8'));
  v_at timestamptz := core.now();
begin
  insert into identity.links (token_hash, kind, user_id, email, created_at, expires_at)
  values (
    v_token_hash, make_link.kind, make_link.user_id, make_link.email, v_at,
    v_at + make_link.valid_for
  );
  return v_token;
end
$$;

comment on function identity.make_link(text, bigint, text, interval) is
  'Makes a link and returns its token, which is not kept.';
--! EndIncluded identity/functions/make_link.sql
--! Included identity/functions/take_link.sql
create or replace function identity.take_link(kind text, token_hash bytea)
returns identity.links
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_link identity.links;
  v_invited text;
begin
  perform core.check_session();
  -- The account is locked before its links; those of an address in one order.
  perform identity.lock_account(l.user_id)
  from identity.links as l
  where l.token_hash = take_link.token_hash
    and l.user_id is not null;
  if take_link.kind = 'invitation' then
    select lower(l.email collate "C") into v_invited
    from identity.links as l
    where l.token_hash = take_link.token_hash
      and l.kind = 'invitation';
    -- Before the links: a worker that makes one holds its mail.
    delete from identity.mails as m
    where m.kind = 'invitation'
      and m.due_at is not null
      and lower(m.address collate "C") = v_invited; -- mutant: invitation_is_sent_again
    perform
    from identity.links as l
    where l.kind = 'invitation'
      and lower(l.email collate "C") = v_invited
    order by l.token_hash
    for update;
  end if;
  delete from identity.links as l -- mutant: link_used_twice
  where l.token_hash = take_link.token_hash
    and l.kind = take_link.kind -- mutant: link_of_another_kind
    and l.expires_at > core.now()
  returning l.* into v_link;
  if not found then
    perform core.raise_error('INVALID_LINK');
  end if;
  -- A mail that was sent twice has two tokens, and an operator has one more.
  delete from identity.links as l
  where l.kind = take_link.kind
    and l.user_id = v_link.user_id; -- mutant: other_links_stay
  delete from identity.links as l
  where l.kind = 'invitation'
    and lower(l.email collate "C") = v_invited; -- mutant: other_invitations_stay
  return v_link;
end
$$;

comment on function identity.take_link(text, bytea) is
  'Uses up the link with this SHA-256, and the others of its user and kind; of an invitation all '
  'others to its address, and those that are to be mailed. Errors: INVALID_LINK (unknown, expired '
  'or used), UNFIT_SESSION. Locks: the account, the mails, the rows of the links.';
--! EndIncluded identity/functions/take_link.sql
--! Included identity/functions/report_sign_in.sql
create or replace function identity.report_sign_in(user_id bigint, browser text)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select identity.notify_user(
    'new_sign_in', report_sign_in.user_id,
    json_build_object('browser', left(report_sign_in.browser, 300))
  )
  where not exists (
    select
    from identity.sessions as s
    where s.user_id = report_sign_in.user_id
      and s.browser = left(report_sign_in.browser, 300)
  )
$$;

comment on function identity.report_sign_in(bigint, text) is
  'Writes a mail about a sign-in, unless a session of this browser is there.';
--! EndIncluded identity/functions/report_sign_in.sql
--! Included identity/functions/open_session.sql
create or replace function identity.open_session(
  user_id bigint, browser text, is_host_only boolean, ended_cookie_hash bytea
)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  c_valid_for constant interval := '30 days';
  c_most constant int := 50;
  -- The prefix says which of the two cookies has it: under https, browsers keep __Host- cookies
  -- from subdomains.
  v_cookie text := identity.new_api_key(case when is_host_only then 'jh_' else 'js_' end);
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_cookie_hash bytea := sha256(convert_to(v_cookie, 'UTF8'));
  v_at timestamptz := core.now();
begin
  perform core.check_session();
  perform identity.end_sessions(array(
    select s.id
    from identity.sessions as s
    where s.cookie_hash = open_session.ended_cookie_hash
    union
    select s.id
    from identity.sessions as s
    where s.user_id = open_session.user_id and s.expires_at <= v_at
    union
    (
      select s.id
      from identity.sessions as s
      where s.user_id = open_session.user_id
      order by s.id desc
      offset c_most - 1
    )
  ));
  insert into identity.sessions (
    user_id, cookie_hash, created_at, expires_at, browser, last_seen_at
  )
  values (
    open_session.user_id, v_cookie_hash, v_at, v_at + c_valid_for,
    left(open_session.browser, 300), v_at
  );
  return v_cookie;
end
$$;

comment on function identity.open_session(bigint, text, boolean, bytea) is
  'Makes a session of 30 days and returns its cookie, which is not kept. Ends the session that the '
  'browser had before, expired ones of the user, and the oldest beyond 50. Errors: '
  'UNFIT_SESSION. Locks: their rows.';
--! EndIncluded identity/functions/open_session.sql
--! Included identity/functions/fresh_session.sql
create or replace function identity.fresh_session(user_id uuid, session_id uuid)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  c_fresh_for constant interval := '10 minutes';
  v_id bigint;
begin
  perform core.check_session();
  -- Locked, so that the session still exists when a challenge refers to it.
  select s.id into v_id
  from identity.sessions as s
  join identity.users as u on u.id = s.user_id
  where s.public_id = fresh_session.session_id
    and u.public_id = fresh_session.user_id
    and s.created_at > core.now() - c_fresh_for -- mutant: old_session
  for key share of s;
  if not found then
    perform core.raise_error('SIGN_IN_AGAIN');
  end if;
  return v_id;
end
$$;

comment on function identity.fresh_session(uuid, uuid) is
  'The key of a user''s session that began within the last 10 minutes. Errors: SIGN_IN_AGAIN, '
  'UNFIT_SESSION. Locks: the session, shared.';
--! EndIncluded identity/functions/fresh_session.sql
--! Included identity/functions/base64url.sql
create or replace function identity.base64url(bytes bytea)
returns text
language sql immutable parallel safe
return rtrim(translate(encode(bytes, 'base64'), '+/' || chr(10), '-_'), '=');

comment on function identity.base64url(bytea) is
  'Bytes in base64url without padding, as WebAuthn writes them in JSON.';
--! EndIncluded identity/functions/base64url.sql
--! Included identity/functions/new_challenge.sql
create or replace function identity.new_challenge(session_id bigint)
returns bytea
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  c_valid_for constant interval := '5 minutes';
  v_challenge bytea := sha256(
    uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
  );
  v_at timestamptz := core.now();
begin
  -- Each call removes more than it adds, so their number stays bounded without a worker, too.
  delete from identity.passkey_challenges as c
  where c.challenge = any (array(
    select x.challenge
    from identity.passkey_challenges as x
    where x.expires_at <= v_at
    order by x.expires_at
    limit 2 -- mutant: old_challenges_stay
    for update skip locked
  ));
  insert into identity.passkey_challenges as c (challenge, session_id, created_at, expires_at)
  values (v_challenge, new_challenge.session_id, v_at, v_at + c_valid_for)
  on conflict on constraint passkey_challenges_are_one_for_each_session do update
  set challenge = excluded.challenge,
    created_at = excluded.created_at,
    expires_at = excluded.expires_at;
  return v_challenge;
end
$$;

comment on function identity.new_challenge(bigint) is
  'Makes a challenge, valid for 5 minutes: for a session, in place of the one before, or, with '
  'null, for a sign-in. Removes up to two that have expired. Locks: the challenge of the session.';
--! EndIncluded identity/functions/new_challenge.sql
--! Included identity/functions/take_challenge.sql
create or replace function identity.take_challenge(challenge bytea, session_id bigint)
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  with taken as (
    delete from identity.passkey_challenges as c
    where c.challenge = take_challenge.challenge
      and c.session_id is not distinct from take_challenge.session_id -- mutant: any_challenge
      and c.expires_at > core.now() -- mutant: challenge_without_end
    returning 1
  )
  select count(*) = 1 from taken
$$;

comment on function identity.take_challenge(bytea, bigint) is
  'Uses up a challenge that was made for this session, or, with null, for a sign-in. False: it is '
  'unknown, expired or used, or was made for something else. Locks: its row.';
--! EndIncluded identity/functions/take_challenge.sql
--! Included identity/functions/check_new_passkey.sql
create or replace function identity.check_new_passkey(user_id bigint)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most constant int := 20;
begin
  if not exists (
    select
    from identity.users as u
    where u.id = check_new_passkey.user_id
      and identity.is_confirmed(u)
  ) then
    perform core.raise_error('EMAIL_UNCONFIRMED');
  end if;
  if (
    select count(*)
    from identity.passkeys as p
    where p.user_id = check_new_passkey.user_id
  ) >= c_most then
    perform core.raise_error(
      'INVALID_STATE', format('An account has at most %s passkeys: remove one first', c_most)
    );
  end if;
end
$$;

comment on function identity.check_new_passkey(bigint) is
  'Checks that a user may have one passkey more: at most 20. Errors: EMAIL_UNCONFIRMED, '
  'INVALID_STATE.';
--! EndIncluded identity/functions/check_new_passkey.sql
--! Included identity/functions/replace_password.sql
create or replace function identity.replace_password(
  user_id bigint, password_hash text, browser text, is_host_only boolean
)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  perform identity.lock_account(replace_password.user_id);
  perform identity.set_password(replace_password.user_id, replace_password.password_hash);
  delete from identity.links as l
  where l.user_id = replace_password.user_id
    and l.kind in ('password_reset', 'sign_in'); -- mutant: sign_in_link_outlives_a_password
  -- Who knew the password before may have asked for another address. A sign-up stays.
  delete from identity.email_claims as c
  where c.user_id = replace_password.user_id -- mutant: change_of_address_outlives_a_password
    and c.handle is null; -- mutant: sign_up_ends_with_a_password
  delete from identity.links as l
  where l.user_id = replace_password.user_id
    and l.kind = 'confirm_email'
    and not exists (
      select from identity.email_claims as c where c.user_id = replace_password.user_id
    );
  perform identity.end_sessions(array(
    select s.id
    from identity.sessions as s
    where s.user_id = replace_password.user_id -- mutant: sessions_outlive_a_password
  ));
  perform identity.notify_user('password_changed', replace_password.user_id);
  return identity.open_session(
    replace_password.user_id, replace_password.browser, replace_password.is_host_only, null
  );
end
$$;

comment on function identity.replace_password(bigint, text, text, boolean) is
  'Sets a password, ends all sessions, links and a change of address of the user, and opens a '
  'session, whose cookie it returns. The link of a sign-up stays. Locks: the account, the claim, '
  'the row of the password, the rows of links and sessions.';
--! EndIncluded identity/functions/replace_password.sql
--! Included identity/functions/change_profile.sql
create or replace function identity.change_profile(
  user_id uuid, private boolean, leaderboard_opt_out boolean, display_name text, avatar_url text,
  handle text default null
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant bigint := identity.user_id(change_profile.user_id);
  v_constraint text;
  v_column text;
begin
  update identity.users as u set
    private = coalesce(change_profile.private, u.private),
    leaderboard_opt_out = coalesce(change_profile.leaderboard_opt_out, u.leaderboard_opt_out),
    display_name = coalesce(change_profile.display_name, u.display_name),
    avatar_url = coalesce(change_profile.avatar_url, u.avatar_url),
    handle = coalesce(change_profile.handle, u.handle)
  where u.id = v_user_id;
  if num_nonnulls(change_profile.private, change_profile.leaderboard_opt_out) > 0 then
    insert into leaderboard.profile_changes (user_id)
    values (v_user_id);
  end if;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
  when unique_violation then
    perform identity.raise_taken('users_handle_is_unique');
end
$$;

comment on function identity.change_profile(uuid, boolean, boolean, text, text, text) is
  'Changes the given parts of a user''s profile. Errors: INVALID_REQUEST, NOT_FOUND, '
  'ALREADY_EXISTS (the handle). Locks: the row of the user in identity.users, for which no trading '
  'waits.';
--! EndIncluded identity/functions/change_profile.sql
--! Included risk/functions/set_limits.sql
create or replace function risk.set_limits(
  user_id uuid, day_cents bigint, week_cents bigint, month_cents bigint, immediate boolean
)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint := identity.lock_user(set_limits.user_id);
  v_at timestamptz := core.now();
  v_trader trading.traders;
  v_day record;
  v_week record;
  v_month record;
begin
  if least(set_limits.day_cents, set_limits.week_cents, set_limits.month_cents) < 0 then
    perform core.raise_error('INVALID_REQUEST', 'A loss limit must not be below 0');
  end if;

  select t.* into strict v_trader
  from trading.traders as t
  where t.user_id = v_user_id;
  v_day := risk.change_limit(
    v_trader.day_limit_cents, v_trader.next_day_limit_cents, v_trader.day_limit_changes_at,
    set_limits.day_cents, set_limits.immediate, v_at
  );
  v_week := risk.change_limit(
    v_trader.week_limit_cents, v_trader.next_week_limit_cents, v_trader.week_limit_changes_at,
    set_limits.week_cents, set_limits.immediate, v_at
  );
  v_month := risk.change_limit(
    v_trader.month_limit_cents, v_trader.next_month_limit_cents, v_trader.month_limit_changes_at,
    set_limits.month_cents, set_limits.immediate, v_at
  );
  update trading.traders as t set
    limits_reviewed_at = coalesce(t.limits_reviewed_at, v_at),
    day_limit_cents = v_day.limit_cents,
    next_day_limit_cents = v_day.next_limit_cents,
    day_limit_changes_at = v_day.changes_at,
    week_limit_cents = v_week.limit_cents,
    next_week_limit_cents = v_week.next_limit_cents,
    week_limit_changes_at = v_week.changes_at,
    month_limit_cents = v_month.limit_cents,
    next_month_limit_cents = v_month.next_limit_cents,
    month_limit_changes_at = v_month.changes_at
  where t.user_id = v_user_id;
  return v_user_id;
end
$$;

comment on function risk.set_limits(uuid, bigint, bigint, bigint, boolean) is
  'Sets a user''s loss limits, null for none, and marks them as reviewed. Lowering holds at once, '
  'raising and removing after 24 hours, unless immediate. Returns the key of the user. Errors: '
  'INVALID_REQUEST, NOT_FOUND, UNFIT_SESSION. Locks: the user.';
--! EndIncluded risk/functions/set_limits.sql
--! Included risk/functions/limit_object.sql
create or replace function risk.limit_object(
  limit_cents bigint,
  next_limit_cents bigint,
  changes_at timestamptz,
  net_spent_cents bigint,
  open_cents bigint,
  at timestamptz
)
returns json
language sql stable
return json_build_object(
  'limitCents', limit_cents,
  'usedCents', greatest(0, net_spent_cents) + open_cents,
  'pending', case when changes_at > at then json_build_object(
    'limitCents', next_limit_cents,
    'at', core.iso8601(changes_at)
  ) end
);

comment on function risk.limit_object(bigint, bigint, timestamptz, bigint, bigint, timestamptz) is
  'One loss limit as the account shows it: what holds, what is used (net cash put into trading and '
  'what open orders could cost), and the change that waits, if one does. Null is no limit.';
--! EndIncluded risk/functions/limit_object.sql
--! Included risk/functions/limits_object.sql
create or replace function risk.limits_object(trader trading.traders, at timestamptz)
returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'reviewedAt', core.iso8601((trader).limits_reviewed_at),
    'day', risk.limit_object(
      (f.limits).day_cents, (trader).next_day_limit_cents, (trader).day_limit_changes_at,
      risk.net_spent_since(trader, d.today), o.open_cents, limits_object.at
    ),
    'week', risk.limit_object(
      (f.limits).week_cents, (trader).next_week_limit_cents, (trader).week_limit_changes_at,
      risk.net_spent_since(trader, d.today - 6), o.open_cents, limits_object.at
    ),
    'month', risk.limit_object(
      (f.limits).month_cents, (trader).next_month_limit_cents, (trader).month_limit_changes_at,
      risk.net_spent_since(trader, d.today - 29), o.open_cents, limits_object.at
    )
  )
  from (select risk.limits_in_force(trader, limits_object.at)) as f (limits)
  cross join (select (limits_object.at at time zone 'UTC')::date) as d (today)
  cross join (
    -- Without the limit the planner would put the call in each of the three places.
    select trading.open_cost_cents((trader).user_id, limits_object.at) limit 1
  ) as o (open_cents)
$$;

comment on function risk.limits_object(trading.traders, timestamptz) is
  'A user''s loss limits as the account shows them, with what is used of each. Cost: a row for '
  'each open order.';
--! EndIncluded risk/functions/limits_object.sql
--! Included trading/functions/replace_order.sql
create or replace function trading.replace_order(
  context trading.market_context,
  "order" trading.orders,
  price int,
  quantity int,
  is_priced boolean
)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_active_order trading.active_orders;
  v_request trading.order_request;
  v_batch trading.matched_batch;
  v_result trading.order_result;
  v_written trading.written_batch;
begin
  select b.* into strict v_active_order
  from trading.active_orders as b
  where b.order_id = ("order").id;

  v_request.market := 1;
  v_request.market_id := ("order").market_id;
  v_request.user_id := ("order").user_id;
  v_request.side := ("order").side;
  v_request.order_type := ("order").order_type;
  v_request.price := replace_order.price;
  v_request.quantity := replace_order.quantity - ("order").filled_quantity; -- mutant: amend_forgets_fills
  v_request.time_in_force := ("order").time_in_force;
  v_request.post_only := ("order").post_only;
  v_request.expires_at := ("order").expires_at;
  v_request.book_side := v_active_order.book_side;
  v_request.book_price := case ("order").order_type
    when 'buy' then replace_order.price
    else 100 - replace_order.price
  end;
  -- What never rests and still has the protection price came without one.
  v_request.is_market := not replace_order.is_priced
    and ("order").time_in_force = 'ioc'
    and v_request.book_price = 99;
  v_request.relieved_cents := trading.active_order_cost_cents(v_active_order, context.at);

  v_batch := trading.match_batch(array[context], array[v_request], context.at);
  v_result := (v_batch.result).results[1];
  if v_result.code is not null then
    if v_result.code = 'CONFLICT_RETRY' then
      -- The makers that it had to cancel so far stay cancelled, or it would meet them again.
      perform trading.write_batch(v_batch);
    end if;
    return (v_result.code, null, false, null)::api.result;
  end if;

  -- An order that is matched at once is counted with the order that it replaces, as one change.
  perform trading.end_active_orders(
    context.market_id, array[("order").id], 'user_amended', context.at,
    counted => context.live_delay_ms is not null
  );
  v_written := trading.write_batch(v_batch);
  insert into trading.order_replacements (order_id, replaced_order_id)
  values ((v_written.orders[1]).id, ("order").id);

  return (
    null, null, false,
    format(
      '{"order":%s,"fills":%s,"amended":true,"queuePositionChanged":true,'
      '"cancelledOrderId":"%s","feeCents":%s}',
      trading.order_object(
        (v_written.orders[1]).public_id,
        (v_batch.traders).public_ids[(v_batch.request_arrays).traders[1]],
        context.public_id, v_request.side, v_request.price, v_result.quantity,
        v_result.quantity - v_result.left_quantity, v_result.status, v_request.order_type, null,
        v_result.cancel_reason, v_request.expires_at, core.iso8601(context.at),
        case when v_result.status = 'scheduled' then trading.schedule_members(
          context.at + context.live_delay_ms * interval '1 millisecond', null, context.at
        ) end
      ),
      trading.fills_of_order((v_written.orders[1]).id),
      ("order").public_id,
      coalesce(v_result.fee_cents, 0)
    )
  )::api.result;
end
$$;

comment on function trading.replace_order(
  trading.market_context, trading.orders, int, int, boolean
) is
  'Cancels an open order (user_amended) and places another for what is left of it, at a price and '
  'with a total quantity that counts what is filled, or changes nothing if that is rejected. '
  'is_priced: the price was asked for and is not just the order''s own. The caller holds the '
  'market''s lock; locks as api.place_orders does.';
--! EndIncluded trading/functions/replace_order.sql
--! Included trading/functions/own_fills.sql
create or replace function trading.own_fills(trade_ids bigint[], user_id bigint)
returns table (trade_id bigint, price int, quantity int, fill json)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select
    l.id,
    p.price,
    l.quantity,
    json_build_object(
      'id', l.public_id,
      'orderId', o.public_id,
      'marketId', m.public_id,
      'side', case when s.is_of_yes then 'yes' else 'no' end,
      'orderType', case when l.realised_cents is null then 'buy' else 'sell' end,
      'price', p.price,
      'quantity', l.quantity,
      'liquidity', case when l.is_taker then 'taker' else 'maker' end,
      'feeCents', l.fee_cents,
      'cashCents', l.cents,
      'balanceAfter', l.balance_cents,
      'realisedPnl', l.realised_cents,
      'createdAt', core.iso8601(l.created_at)
    )
  from (
    select
      t.id, t.public_id, t.market_id, t.price::int as yes_price, t.quantity::int as quantity,
      t.created_at, r.is_taker,
      case when r.is_taker then t.taker_order_id else t.maker_order_id end as order_id,
      r.is_taker = (t.taker_side = 'yes') as is_yes_book,
      case when r.is_taker then t.taker_cents else t.maker_cents end as cents,
      case when r.is_taker then t.taker_balance_cents else t.maker_balance_cents end
        as balance_cents,
      case when r.is_taker then t.taker_realised_cents else t.maker_realised_cents end
        as realised_cents,
      case when r.is_taker then t.fee_cents::bigint else 0 end as fee_cents
    from unnest(own_fills.trade_ids) as i (id)
    cross join lateral (
      select x.* from trading.trades as x where x.id = i.id limit 1
    ) as t
    cross join lateral (
      select t.taker_user_id = own_fills.user_id as is_taker
    ) as r
  ) as l
  -- A sell is stored as a buy of the other side.
  cross join lateral (
    select l.is_yes_book = (l.realised_cents is null) as is_of_yes
  ) as s
  cross join lateral (
    select case when s.is_of_yes then l.yes_price else 100 - l.yes_price end as price
  ) as p
  cross join lateral (
    select y.public_id from trading.orders as y where y.id = l.order_id limit 1
  ) as o
  cross join lateral (
    select z.public_id from catalog.markets as z where z.id = l.market_id limit 1
  ) as m
$$;

comment on function trading.own_fills(bigint[], bigint) is
  'Trades as one of their two users sees them: prices are of the own order''s side, cashCents is '
  'what a trade moved on the own account with the fee, realisedPnl is null for a buy.';
--! EndIncluded trading/functions/own_fills.sql
--! Included trading/functions/order_detail_object.sql
create or replace function trading.order_detail_object(
  "order" trading.orders, shares_ahead bigint, at timestamptz
)
returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select (
    -- The members of the list's form, and more of them.
    rtrim(l.listed::text, '} ') || ','
    || ltrim(
      json_build_object(
        'averagePrice', f.average_price,
        'feeCents', ("order").fee_cents,
        'replaces', (
          select o.public_id
          from trading.order_replacements as r
          cross join lateral trading.pick_orders(
            ("order").user_id, array[r.replaced_order_id]
          ) as o
          where r.order_id = ("order").id
        ),
        'replacedBy', (
          select o.public_id
          from trading.order_replacements as r
          cross join lateral trading.pick_orders(("order").user_id, array[r.order_id]) as o
          where r.replaced_order_id = ("order").id
        ),
        'fills', coalesce(f.fills, '[]')
      )::text,
      '{ '
    )
  )::json
  from (
    select trading.listed_order_object(
      "order", order_detail_object.shares_ahead, order_detail_object.at
    ) as listed
  ) as l
  cross join (
    select
      round(sum(x.price * x.quantity) / sum(x.quantity)::numeric, 4) as average_price,
      json_agg(x.fill order by x.trade_id) as fills
    from trading.own_fills(
      array(
        select t.id from trading.trades as t where t.taker_order_id = ("order").id
        union all
        select t.id from trading.trades as t where t.maker_order_id = ("order").id
      ),
      ("order").user_id
    ) as x
  ) as f
$$;

comment on function trading.order_detail_object(trading.orders, bigint, timestamptz) is
  'An order as lists show it, and its average price (of the own side), its fee, the orders that it '
  'replaces and that replaced it, and its fills in the order in which they happened. Cost: a trade '
  'for each fill, at most one for each share.';
--! EndIncluded trading/functions/order_detail_object.sql
--! Included trading/functions/candles_of.sql
create or replace function trading.candles_of(trades trading.trades[], width_minutes int)
returns setof trading.candles
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select
    t.market_id,
    candles_of.width_minutes,
    s.start_at,
    (array_agg(t.price order by t.id))[1],
    max(t.price),
    min(t.price),
    (array_agg(t.price order by t.id desc))[1],
    sum(t.quantity)::bigint,
    count(*)
  from unnest(candles_of.trades) as t
  cross join lateral (
    select date_bin(
      candles_of.width_minutes * interval '1 minute', t.created_at, '2000-01-01 00:00:00+00' -- mutant: candle_starts_late
    ) as start_at
  ) as s
  group by t.market_id, s.start_at
$$;

comment on function trading.candles_of(trading.trades[], int) is
  'The candles of these trades.';
--! EndIncluded trading/functions/candles_of.sql
--! Included trading/functions/verify_orders.sql
-- One query for each invariant, in this order:
--
--   what trades say of an order: filled quantity, fee, budget, taking before making
--   that it is somewhere, once: its user and market, the archive, the sum of all ids of a market
--   what it may look like: form, status, times, the reason of its end
--   what it leads to: the order that replaced it, its reductions, its idempotency key
create or replace function trading.verify_orders()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  fills as (
    select
      f.order_id,
      sum(f.quantity) as quantity,
      sum(f.fee_cents) as fee_cents,
      sum(f.quantity * case f.book_side when 'yes' then f.price else 100 - f.price end)
        as value_cents,
      max(f.trade_id) filter (where f.is_taker) as last_taken,
      min(f.trade_id) filter (where not f.is_taker) as first_made
    from trading.fill_sides() as f
    group by f.order_id
  ),
  all_orders as not materialized (
    select o.* from trading.orders as o
    union all
    select a.* from trading.archived_orders as a
  )
  select 'filled quantity equals the trades', 'order ' || o.public_id,
    coalesce(f.quantity, 0)::text, o.filled_quantity::text
  from trading.orders as o
  left join fills as f on f.order_id = o.id
  where o.filled_quantity <> coalesce(f.quantity, 0)

  union all
  select 'order fee equals the fees of its trades', 'order ' || o.public_id,
    coalesce(f.fee_cents, 0)::text, o.fee_cents::text
  from trading.orders as o
  left join fills as f on f.order_id = o.id
  where o.fee_cents <> coalesce(f.fee_cents, 0)

  -- Only buys have a budget, so the stored side is their own.
  union all
  select 'fills are within the budget of their order', 'order ' || o.public_id,
    '<= ' || o.budget_cents, (f.value_cents + f.fee_cents)::text
  from trading.orders as o
  join fills as f on f.order_id = o.id
  where f.value_cents + f.fee_cents > o.budget_cents

  union all
  select 'order takes before it makes', 'order ' || f.order_id,
    'trades after ' || f.last_taken, 'trade ' || f.first_made
  from fills as f
  where f.first_made < f.last_taken

  union all
  select 'order has its user and market', 'order ' || o.public_id, 'both', 'not both'
  from trading.orders as o
  where not exists (select from identity.users as u where u.id = o.user_id)
    or not exists (select from trading.market_state as b where b.market_id = o.market_id)

  union all
  select 'archived order has its user and market', 'order ' || a.public_id, 'both', 'not both'
  from trading.archived_orders as a
  where not exists (select from identity.users as u where u.id = a.user_id)
    or not exists (select from trading.market_state as b where b.market_id = a.market_id)

  union all
  select 'archived order is nowhere else', 'order ' || a.public_id, 'archived', 'archived and not'
  from trading.archived_orders as a
  where exists (select from trading.orders as o where o.id = a.id)
    or exists (select from trading.orders as o where o.public_id = a.public_id)
    or exists (select from trading.active_orders as b where b.order_id = a.id)

  union all
  select 'orders are those that were placed', 'market ' || b.market_id,
    b.placed_count || ' with ids that sum to ' || b.placed_id_sum,
    coalesce(o.order_count, 0) || ' with ids that sum to ' || coalesce(o.id_sum, 0)
  from trading.market_state as b
  left join (
    select x.market_id, count(*) as order_count, sum(x.id) as id_sum
    from all_orders as x
    group by x.market_id
  ) as o on o.market_id = b.market_id
  where b.placed_count <> coalesce(o.order_count, 0)
    or b.placed_id_sum <> coalesce(o.id_sum, 0)

  union all
  select 'order is of a form that can be placed', 'order ' || o.public_id, 'one of the forms',
    concat_ws(' ', o.order_type, o.time_in_force,
      case when o.post_only then 'post-only' end, 'budget ' || o.budget_cents)
  from all_orders as o
  where o.post_only and o.time_in_force <> 'gtc'
    or o.budget_cents is not null and (o.order_type = 'sell' or o.time_in_force = 'gtc')

  union all
  select 'order has the status that fits what it is', 'order ' || o.public_id, 'another status',
    concat_ws(' ', o.status, o.time_in_force, o.filled_quantity || ' of ' || o.quantity,
      'release at ' || o.release_at, 'released at ' || o.released_at)
  from all_orders as o
  where case
    when o.status in ('open', 'partially_filled')
      then o.time_in_force <> 'gtc' or (o.release_at is null) <> (o.released_at is null)
    when o.status = 'scheduled' then o.released_at is not null
    when o.status = 'filled' then (o.release_at is null) <> (o.released_at is null)
    else o.budget_cents is null and o.filled_quantity >= o.quantity
  end
    or o.budget_cents is not null and o.filled_quantity <> o.quantity
    or o.released_at is not null and (o.release_at is null or o.released_at < o.release_at)
    or o.release_at < o.created_at

  -- The public id has the time in which it was drawn, a moment after that of the order. Both are of
  -- one transaction, so a clock that is set between transactions changes nothing here.
  union all
  select 'order has the time of its public id', 'order ' || o.public_id,
    'within an hour of ' || core.uuid_v7_time(o.public_id), o.created_at::text
  from all_orders as o
  where o.created_at not between core.uuid_v7_time(o.public_id) - interval '1 hour'
    and core.uuid_v7_time(o.public_id) + interval '1 hour'

  union all
  select 'order expires after it was placed', 'order ' || o.public_id,
    '> ' || o.created_at, o.expires_at::text
  from all_orders as o
  where o.expires_at <= o.created_at

  union all
  select 'order waits no longer than an event may ask for', 'order ' || o.public_id,
    '<= ' || o.created_at + interval '1 minute', o.release_at::text
  from all_orders as o
  where o.release_at > o.created_at + interval '1 minute'

  -- What can end an order depends on where it is: in its delay, at its placing or release, or on
  -- the book. An order that may not rest ends at its placing or release, or in its delay.
  union all
  select 'order is cancelled for a reason that fits it', 'order ' || o.public_id, 'another reason',
    concat_ws(' ', o.cancel_reason, o.order_type, o.time_in_force,
      o.filled_quantity || ' of ' || o.quantity, 'at ' || o.cancelled_at,
      'placed at ' || o.created_at, 'release at ' || o.release_at, 'released at ' || o.released_at,
      'expires at ' || o.expires_at)
  from all_orders as o
  cross join lateral (
    select
      o.release_at is not null and o.released_at is null as is_waiting,
      coalesce(o.released_at, o.created_at) as taken_at
  ) as x
  where o.status = 'cancelled'
    and (
      case o.cancel_reason
        when 'expired' then o.expires_at is null or o.expires_at > o.cancelled_at
        when 'user_amended' then o.budget_cents is not null or o.expires_at <= o.cancelled_at
        when 'self_trade'
          then o.released_at is null or o.filled_quantity > 0 or o.cancelled_at <> o.released_at
        when 'post_only_would_cross' then not o.post_only
          or o.released_at is null or o.filled_quantity > 0 or o.cancelled_at <> o.released_at
        when 'insufficient_liquidity' then o.time_in_force = 'gtc'
        when 'position_insufficient' then o.order_type = 'buy'
        when 'insufficient_funds' then o.order_type = 'sell'
        when 'loss_limit' then o.order_type = 'sell'
        else false
      end
      or x.is_waiting and o.cancel_reason not in (
        'user_cancelled', 'user_amended', 'market_closed', 'expired', 'trading_paused',
        'self_excluded'
      )
      or o.time_in_force = 'ioc' and not x.is_waiting and (
        o.cancelled_at <> x.taken_at
        or o.cancel_reason in ('user_cancelled', 'user_amended')
        or o.filled_quantity > 0 and o.cancel_reason <> 'insufficient_liquidity'
        or o.released_at is null and o.filled_quantity = 0
      )
    )

  union all
  select 'amended order has its replacement', 'order ' || o.public_id,
    concat_ws(' ', 'an order of the same form, made at', o.cancelled_at), 'none'
  from all_orders as o
  where o.cancel_reason = 'user_amended'
    and not exists (
      select from all_orders as n
      where n.market_id = o.market_id
        and n.user_id = o.user_id
        and n.side = o.side
        and n.order_type = o.order_type
        and n.time_in_force = o.time_in_force
        and n.post_only = o.post_only
        and n.created_at = o.cancelled_at
        and n.expires_at is not distinct from o.expires_at
        and n.budget_cents is null
        and n.id > o.id
    )

  union all
  select 'replacement takes the place of an amended order', 'order ' || r.order_id,
    'an order of its user and market, amended when it was made', 'order ' || r.replaced_order_id
  from trading.order_replacements as r
  left join all_orders as n on n.id = r.order_id
  left join all_orders as o on o.id = r.replaced_order_id
  where (o.market_id, o.user_id, o.cancel_reason, o.cancelled_at)
    is distinct from (n.market_id, n.user_id, 'user_amended'::trading.cancel_reason, n.created_at)

  union all
  select 'reductions of an order lead to its quantity', 'order ' || r.order_id,
    coalesce(r.expected::text, 'an order'), r.quantity_after::text
  from (
    select x.order_id, x.quantity_after,
      coalesce(
        lead(x.quantity_before) over (partition by x.order_id order by x.quantity_after desc),
        o.quantity
      ) as expected
    from trading.order_reductions as x
    left join all_orders as o on o.id = x.order_id
  ) as r
  where r.expected is distinct from r.quantity_after

  union all
  select 'idempotency key stands for an order of its user', 'key ' || k.key,
    'an order of user ' || k.user_id, coalesce('of user ' || o.user_id, 'none')
  from trading.idempotency_keys as k
  left join all_orders as o on o.id = k.order_id
  where o.user_id is distinct from k.user_id

  union all
  select 'idempotency key is as old as its order', 'key ' || k.key,
    o.created_at::text, k.created_at::text
  from trading.idempotency_keys as k
  join all_orders as o on o.id = k.order_id
  where k.created_at <> o.created_at
$$;

comment on function trading.verify_orders() is
  'The part of ledger.verify() about orders, archived ones included: none is missing, each is what '
  'its trades made of it, and could have been placed and ended that way. One row for each broken '
  'invariant.';
--! EndIncluded trading/functions/verify_orders.sql
--! Included admin/functions/edit_event.sql
create or replace function admin.edit_event(
  event_id uuid, title text default null, description text default null
)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_event catalog.events;
  v_constraint text;
  v_column text;
begin
  perform core.check_session();
  select e.* into v_event
  from catalog.events as e
  where e.public_id = edit_event.event_id
  for no key update;
  if not found then
    perform core.raise_error('NOT_FOUND', format('There is no event %s', edit_event.event_id));
  end if;
  update catalog.events as e set
    title = coalesce(edit_event.title, e.title),
    description = coalesce(edit_event.description, e.description)
  where e.id = v_event.id;
  perform admin.audit('edit_event', jsonb_build_object(
    'event_id', edit_event.event_id,
    'title', edit_event.title,
    'description', edit_event.description,
    'before', jsonb_build_object('title', v_event.title, 'description', v_event.description)
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.edit_event(uuid, text, text) is
  'Changes title and description of an event; null leaves a value as it is. Its markets are found '
  'by the new title. The audit row has the values from before. Errors: INVALID_REQUEST, NOT_FOUND, '
  'UNFIT_SESSION. Locks: the row of the event, then with a new title the rows of its markets in '
  'catalog.markets, by ascending key, for which no trading waits.';
--! EndIncluded admin/functions/edit_event.sql
--! Included admin/functions/set_profile.sql
create or replace function admin.set_profile(
  user_id uuid,
  private boolean default null,
  leaderboard_opt_out boolean default null,
  display_name text default null,
  avatar_url text default null
)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform identity.change_profile(
    set_profile.user_id, set_profile.private, set_profile.leaderboard_opt_out,
    set_profile.display_name, set_profile.avatar_url
  );
  perform admin.audit('set_profile', jsonb_build_object(
    'user_id', set_profile.user_id,
    'private', set_profile.private,
    'leaderboard_opt_out', set_profile.leaderboard_opt_out,
    'display_name', set_profile.display_name,
    'avatar_url', set_profile.avatar_url
  ));
end
$$;

comment on function admin.set_profile(uuid, boolean, boolean, text, text) is
  'Changes the given parts of a user''s profile; null leaves a part as it is. Errors: '
  'INVALID_REQUEST, NOT_FOUND. Locks: the row of the user in identity.users, for which no trading '
  'waits.';
--! EndIncluded admin/functions/set_profile.sql
--! Included admin/functions/set_sign_up.sql
create or replace function admin.set_sign_up(policy text, play_money_cents bigint default 0)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_constraint text;
  v_column text;
begin
  update identity.settings as s set
    sign_up_policy = set_sign_up.policy,
    play_money_cents = set_sign_up.play_money_cents,
    changed_at = core.now();
  perform admin.audit('set_sign_up', jsonb_build_object(
    'policy', set_sign_up.policy,
    'play_money_cents', set_sign_up.play_money_cents
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.set_sign_up(text, bigint) is
  'Sets who may sign up on the website: open, invitation or closed, which it is until this is '
  'called. play_money_cents is what a new account gets; leave it 0 where money is real: a call '
  'without it sets 0. Errors: INVALID_REQUEST. Locks: the row of identity.settings.';
--! EndIncluded admin/functions/set_sign_up.sql
--! Included admin/functions/invite_user.sql
create or replace function admin.invite_user(email text)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_valid_for constant interval := '14 days';
  v_token text;
begin
  if invite_user.email is null or invite_user.email !~ '^[^@[:space:]]+@[^@[:space:]]+$' then
    perform core.raise_violation('users_email_looks_like_one', '');
  end if;
  if exists (
    select
    from identity.users as u
    where lower(u.email collate "C") = lower(invite_user.email collate "C")
  ) then
    perform core.raise_error('ALREADY_EXISTS', 'A user with this e-mail address already exists');
  end if;
  v_token := identity.make_link('invitation', null, invite_user.email, c_valid_for);
  perform identity.queue_mail('invitation', null, invite_user.email);
  perform admin.audit('invite_user', jsonb_build_object('email', invite_user.email));
  return '/sign-up#' || v_token;
end
$$;

comment on function admin.invite_user(text) is
  'Invites a person by e-mail to sign up with this address, for 14 days. The mail has the link; '
  'the path of another one is returned, to be given by other means. Errors: INVALID_REQUEST, '
  'ALREADY_EXISTS.';
--! EndIncluded admin/functions/invite_user.sql
--! Included admin/functions/sign_in_link.sql
create or replace function admin.sign_in_link(user_id uuid)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_valid_for constant interval := '15 minutes';
  v_user_id constant bigint := identity.user_id(sign_in_link.user_id);
  v_token text;
begin
  v_token := identity.make_link('sign_in', v_user_id, null, c_valid_for);
  perform admin.audit('sign_in_link', jsonb_build_object('user_id', sign_in_link.user_id));
  return '/sign-in#' || v_token;
end
$$;

comment on function admin.sign_in_link(uuid) is
  'For support: the path of a link that signs a user in, once, within 15 minutes. The user gets '
  'a mail about the sign-in. Errors: NOT_FOUND.';
--! EndIncluded admin/functions/sign_in_link.sql
--! Included admin/functions/set_loss_limits.sql
create or replace function admin.set_loss_limits(
  user_id uuid,
  day_cents bigint,
  week_cents bigint,
  month_cents bigint,
  immediate boolean default false
)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform risk.set_limits(
    set_loss_limits.user_id, set_loss_limits.day_cents, set_loss_limits.week_cents,
    set_loss_limits.month_cents, set_loss_limits.immediate
  );
  perform admin.audit('set_loss_limits', jsonb_build_object(
    'user_id', set_loss_limits.user_id,
    'day_cents', set_loss_limits.day_cents,
    'week_cents', set_loss_limits.week_cents,
    'month_cents', set_loss_limits.month_cents,
    'immediate', set_loss_limits.immediate
  ));
end
$$;

comment on function admin.set_loss_limits(uuid, bigint, bigint, bigint, boolean) is
  'Sets a user''s loss limits, null for none, and marks them as reviewed. Lowering holds at once, '
  'raising and removing after 24 hours, unless immediate. Errors: INVALID_REQUEST, NOT_FOUND. '
  'Locks: the user.';
--! EndIncluded admin/functions/set_loss_limits.sql
--! Included api/functions/create_session_token.sql
create or replace function api.create_session_token(session_id uuid)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_valid_for constant interval := '5 minutes';
  v_token text := identity.new_api_key('jt_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_token_hash bytea := sha256(convert_to(v_token, 'UTF8'));
  v_at timestamptz := core.now();
  v_session identity.sessions;
  v_expires_at timestamptz;
begin
  -- Locked, so that the session still exists when the token refers to it.
  select s.* into v_session
  from identity.sessions as s
  where s.public_id = create_session_token.session_id and s.expires_at > v_at
  for key share;
  if not found then
    return null;
  end if;

  update identity.sessions as s
  set last_seen_at = v_at
  where s.id = v_session.id
    and (s.last_seen_at is null or s.last_seen_at < v_at - interval '1 minute');

  delete from identity.session_tokens as t
  where t.session_id = v_session.id and t.expires_at <= v_at;
  v_expires_at := least(v_at + c_valid_for, v_session.expires_at);
  insert into identity.session_tokens (token_hash, session_id, expires_at)
  values (v_token_hash, v_session.id, v_expires_at);
  return json_build_object('token', v_token, 'expiresAt', core.iso8601(v_expires_at));
end
$$;

comment on function api.create_session_token(uuid) is
  'The body of GET /api/auth/token: a new token of the session, good for five minutes and no '
  'longer than the session; null when the session is gone. Expired tokens of the session are '
  'removed, and the session was seen now. Locks: the session, shared; once a minute its row.';
--! EndIncluded api/functions/create_session_token.sql
--! Included api/functions/get_sign_up.sql
create or replace function api.get_sign_up()
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object('policy', s.sign_up_policy, 'playMoneyCents', s.play_money_cents)
  from identity.settings as s
$$;

comment on function api.get_sign_up() is 'The body of GET /api/account/sign-up.';
--! EndIncluded api/functions/get_sign_up.sql
--! Included api/functions/get_password_settings.sql
create or replace function api.get_password_settings(
  standard text, email text default null, user_id uuid default null, link_hash bytea default null
)
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := coalesce(
    lower(get_password_settings.email collate "C"), get_password_settings.user_id::text,
    encode(get_password_settings.link_hash, 'hex')
  );
  v_decoy text := get_password_settings.standard || '$' || rtrim(encode(substr(
    sha256(identity.decoy_secret() || convert_to(v_name, 'UTF8')), 1, 16 -- mutant: decoy_salt
  ), 'base64'), '=');
  v_user_id bigint;
  v_kept text;
begin
  if get_password_settings.link_hash is not null then
    select l.user_id into v_user_id
    from identity.links as l
    where l.token_hash = get_password_settings.link_hash
      and l.kind = 'confirm_email';
  elsif get_password_settings.user_id is null then
    select u.id into v_user_id
    from identity.users as u
    where lower(u.email collate "C") = lower(get_password_settings.email collate "C")
      and identity.is_confirmed(u); -- mutant: settings_of_an_unconfirmed_account
  else
    select u.id into v_user_id
    from identity.users as u
    where u.public_id = get_password_settings.user_id;
  end if;
  select p.password_hash into v_kept
  from identity.passwords as p
  where p.user_id = v_user_id;
  -- All before the digest, which is the part after the last dollar sign.
  return coalesce(left(v_kept, -strpos(reverse(v_kept), '$')), v_decoy);
end
$$;

comment on function api.get_password_settings(text, text, uuid, bytea) is
  'How to hash a password so that it can be compared with that of a user, by e-mail, by id or by '
  'a link that confirms an address: argon2id''s parameters and salt in PHC form. For an address '
  'without an account, a link that is none, and a user without a password, the standard '
  'parameters given (as $argon2id$v=19$m=...,t=...,p=...) and a salt that is the same each time.';
--! EndIncluded api/functions/get_password_settings.sql
--! Included api/functions/get_browser_mark.sql
create or replace function api.get_browser_mark(email text default null, user_id uuid default null)
returns text
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select encode(sha256(
    identity.decoy_secret() || convert_to('browser ' || lower(x.email collate "C"), 'UTF8')
  ), 'hex')
  from (
    select coalesce(get_browser_mark.email, (
      select u.email
      from identity.users as u
      where u.public_id = get_browser_mark.user_id
        and identity.is_confirmed(u)
    ))
  ) as x (email)
$$;

comment on function api.get_browser_mark(text, uuid) is
  'What a browser keeps in which the user of an e-mail address has signed in, so that attempts of '
  'strangers do not count against it. It depends on the address alone, and not on whether there is '
  'an account. By the id of a user it is null until the address is confirmed.';
--! EndIncluded api/functions/get_browser_mark.sql
--! Included api/functions/sign_up.sql
create or replace function api.sign_up(
  email text,
  display_name text,
  handle text,
  password_hash text,
  browser text default null,
  is_host_only boolean default false,
  ended_cookie_hash bytea default null,
  invitation_hash bytea default null,
  out user_id uuid,
  out email_confirmed boolean,
  out cookie text
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings identity.settings;
  v_id uuid := core.uuid_v7();
  v_invitation identity.links;
  v_user identity.users;
  v_constraint text;
  v_column text;
begin
  select s.* into strict v_settings
  from identity.settings as s;
  if v_settings.sign_up_policy = 'closed'
    or v_settings.sign_up_policy = 'invitation' and sign_up.invitation_hash is null
  then
    perform core.raise_error('SIGN_UP_CLOSED');
  end if;
  if sign_up.invitation_hash is not null then
    v_invitation := identity.take_link('invitation', sign_up.invitation_hash);
    if lower(v_invitation.email collate "C") <> lower(sign_up.email collate "C") then -- mutant: invitation_of_another_address
      perform core.raise_error('INVALID_LINK', 'The invitation is for another e-mail address');
    end if;
  end if;

  email_confirmed := v_invitation.email is not null;
  insert into identity.users (public_id, email, display_name, handle)
  values (
    v_id,
    case when email_confirmed then sign_up.email else identity.unconfirmed_email(v_id) end, -- mutant: address_without_a_link
    sign_up.display_name,
    case when email_confirmed then sign_up.handle
      else 'new-' || right(replace(v_id::text, '-', ''), 16) end
  )
  returning * into v_user;
  insert into trading.traders (user_id, public_id)
  values (v_user.id, v_id);
  perform identity.set_password(v_user.id, sign_up.password_hash);
  if not email_confirmed then
    insert into identity.email_claims (user_id, email, handle, created_at)
    values (v_user.id, sign_up.email, sign_up.handle, core.now());
    perform identity.queue_mail('confirm_email', v_user.id, sign_up.email);
  end if;
  if v_settings.play_money_cents > 0 then
    perform ledger.move_cash(v_id, 'deposit', v_settings.play_money_cents, 'play money'); -- mutant: play_money_twice
  end if;
  user_id := v_id;
  cookie := identity.open_session(
    v_user.id, sign_up.browser, sign_up.is_host_only, sign_up.ended_cookie_hash
  );
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
  when unique_violation then
    -- Only an invited user can meet it, whose address is proven.
    get stacked diagnostics v_constraint = constraint_name;
    perform identity.raise_taken(v_constraint);
end
$$;

comment on function api.sign_up(text, text, text, text, text, boolean, bytea, bytea) is
  'Makes an account with a session, and returns the session''s cookie, which is not kept. The '
  'address and the handle are the user''s once the link in the mail is followed '
  '(api.confirm_email), or at once with an invitation to this address. Until then nothing depends '
  'on whether they are taken, so sign-up does not show who has an account. password_hash is '
  'argon2id in PHC form. Errors: SIGN_UP_CLOSED, INVALID_LINK, INVALID_REQUEST, ALREADY_EXISTS '
  '(with an invitation). Locks: with play money, the outside world.';
--! EndIncluded api/functions/sign_up.sql
--! Included api/functions/sign_in.sql
create or replace function api.sign_in(
  email text,
  password_hash text,
  browser text default null,
  is_host_only boolean default false,
  ended_cookie_hash bytea default null,
  out user_id uuid,
  out cookie text
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user identity.users;
begin
  select u.* into v_user
  from identity.users as u
  where lower(u.email collate "C") = lower(sign_in.email collate "C")
    and identity.is_confirmed(u);
  if not identity.is_password(v_user.id, sign_in.password_hash) then
    return;
  end if;
  -- Compared again behind the lock: the password may have changed meanwhile. A wrong one locks
  -- nothing, so the time taken does not show that the address has an account.
  perform identity.lock_account(v_user.id);
  if not identity.is_password(v_user.id, sign_in.password_hash) then -- mutant: session_by_an_old_password
    return;
  end if;
  user_id := v_user.public_id;
  perform identity.report_sign_in(v_user.id, sign_in.browser);
  cookie := identity.open_session(
    v_user.id, sign_in.browser, sign_in.is_host_only, sign_in.ended_cookie_hash
  );
end
$$;

comment on function api.sign_in(text, text, text, boolean, bytea) is
  'Opens a session for the user with this e-mail address and password, and returns its cookie, '
  'which is not kept; both are null when either is wrong. password_hash is computed as '
  'api.get_password_settings says. Ends the session that the browser had before. A mail reports '
  'the sign-in unless a session of this browser is there. Locks: the account, the rows of the '
  'sessions that end.';
--! EndIncluded api/functions/sign_in.sql
--! Included api/functions/sign_in_by_link.sql
create or replace function api.sign_in_by_link(
  token_hash bytea,
  browser text default null,
  is_host_only boolean default false,
  ended_cookie_hash bytea default null,
  out user_id uuid,
  out cookie text
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_link identity.links := identity.take_link('sign_in', sign_in_by_link.token_hash);
begin
  select u.public_id into strict user_id
  from identity.users as u
  where u.id = v_link.user_id;
  perform identity.notify_user(
    'new_sign_in', v_link.user_id,
    json_build_object('browser', left(sign_in_by_link.browser, 300), 'byLink', true)
  );
  cookie := identity.open_session(
    v_link.user_id, sign_in_by_link.browser, sign_in_by_link.is_host_only,
    sign_in_by_link.ended_cookie_hash
  );
end
$$;

comment on function api.sign_in_by_link(bytea, text, boolean, bytea) is
  'Opens a session for the user of a link of admin.sign_in_link, and returns its cookie, which is '
  'not kept. A mail reports it. Errors: INVALID_LINK. Locks: the account, the link, the rows of '
  'the sessions that end.';
--! EndIncluded api/functions/sign_in_by_link.sql
--! Included api/functions/start_passkey_sign_in.sql
create or replace function api.start_passkey_sign_in()
returns bytea
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select identity.new_challenge(null)
$$;

comment on function api.start_passkey_sign_in() is
  'A challenge for api.sign_in_by_passkey, good once, for 5 minutes. It belongs to no user: the '
  'passkey that signs it says whose it is.';
--! EndIncluded api/functions/start_passkey_sign_in.sql
--! Included api/functions/get_passkey.sql
create or replace function api.get_passkey(credential_id bytea)
returns table (public_key bytea)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select p.public_key
  from identity.passkeys as p
  where p.credential_id = get_passkey.credential_id
$$;

comment on function api.get_passkey(bytea) is
  'The public key, in COSE form, of the passkey with exactly this id: one row, or none if it is '
  'unknown.';
--! EndIncluded api/functions/get_passkey.sql
--! Included api/functions/sign_in_by_passkey.sql
create or replace function api.sign_in_by_passkey(
  challenge bytea,
  credential_id bytea,
  user_handle uuid,
  sign_count bigint,
  browser text default null,
  is_host_only boolean default false,
  ended_cookie_hash bytea default null,
  out user_id uuid,
  out cookie text
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint;
begin
  perform core.check_session();
  if not identity.take_challenge(sign_in_by_passkey.challenge, null) then
    return;
  end if;
  -- The account is locked before its passkeys.
  perform identity.lock_account(p.user_id)
  from identity.passkeys as p
  where p.credential_id = sign_in_by_passkey.credential_id;
  update identity.passkeys as p
  set sign_count = sign_in_by_passkey.sign_count, last_used_at = core.now()
  from identity.users as u
  where p.credential_id = sign_in_by_passkey.credential_id
    and u.id = p.user_id
    and u.public_id = sign_in_by_passkey.user_handle -- mutant: passkey_of_any_user
    and (
      p.sign_count < sign_in_by_passkey.sign_count -- mutant: count_may_stay
      -- The device does not count.
      or (p.sign_count = 0 and sign_in_by_passkey.sign_count = 0) -- mutant: count_may_end
    )
  returning p.user_id, u.public_id into v_user_id, user_id;
  if not found then
    return;
  end if;
  perform identity.report_sign_in(v_user_id, sign_in_by_passkey.browser);
  cookie := identity.open_session(
    v_user_id, sign_in_by_passkey.browser, sign_in_by_passkey.is_host_only,
    sign_in_by_passkey.ended_cookie_hash
  );
end
$$;

comment on function api.sign_in_by_passkey(
  bytea, bytea, uuid, bigint, text, boolean, bytea
) is
  'Opens a session for the user of a passkey that has signed a challenge of '
  'api.start_passkey_sign_in, which is used up, and returns its cookie, which is not kept. The '
  'caller has checked the signature by the key of api.get_passkey. Both results are null when the '
  'challenge is not valid, the passkey is not of the user with this handle, or it has signed no '
  'more often than before. Otherwise like api.sign_in. Errors: UNFIT_SESSION. Locks: the '
  'challenge, the account, the passkey, the rows of the sessions that end.';
--! EndIncluded api/functions/sign_in_by_passkey.sql
--! Included api/functions/sign_out.sql
create or replace function api.sign_out(session_id uuid)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select identity.end_sessions(array(
    select s.id
    from identity.sessions as s
    where s.public_id = sign_out.session_id
  ))
$$;

comment on function api.sign_out(uuid) is
  'Ends a session; servers hear of it by session_ended. Locks: its row.';
--! EndIncluded api/functions/sign_out.sql
--! Included api/functions/list_sessions.sql
create or replace function api.list_sessions(user_id uuid, session_id uuid)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object('data', coalesce(
    json_agg(
      json_build_object(
        'id', s.public_id,
        'browser', s.browser,
        'createdAt', core.iso8601(s.created_at),
        'lastSeenAt', core.iso8601(s.last_seen_at),
        'expiresAt', core.iso8601(s.expires_at),
        'current', s.public_id = list_sessions.session_id
      )
      order by s.id desc
    ),
    '[]'
  ))
  from identity.sessions as s
  join identity.users as u on u.id = s.user_id
  where u.public_id = list_sessions.user_id
    and s.expires_at > core.now()
$$;

comment on function api.list_sessions(uuid, uuid) is
  'The body of GET /api/account/sessions: a user''s sessions, newest first; session_id is the one '
  'that asks.';
--! EndIncluded api/functions/list_sessions.sql
--! Included api/functions/end_session.sql
create or replace function api.end_session(user_id uuid, session_id uuid)
returns bigint
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select identity.end_sessions(array(
    select s.id
    from identity.sessions as s
    join identity.users as u on u.id = s.user_id
    where s.public_id = end_session.session_id
      and u.public_id = end_session.user_id
  ))
$$;

comment on function api.end_session(uuid, uuid) is
  'Ends a session of a user; servers hear of it by session_ended. Returns how many ended: 0 when '
  'the user has no such session. Locks: its row.';
--! EndIncluded api/functions/end_session.sql
--! Included api/functions/end_other_sessions.sql
create or replace function api.end_other_sessions(user_id uuid, session_id uuid)
returns bigint
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select identity.end_sessions(array(
    select s.id
    from identity.sessions as s
    join identity.users as u on u.id = s.user_id
    where u.public_id = end_other_sessions.user_id
      and s.public_id <> end_other_sessions.session_id
  ))
$$;

comment on function api.end_other_sessions(uuid, uuid) is
  'Ends all sessions of a user but this one; servers hear of it by session_ended. Returns how many '
  'ended. Locks: their rows.';
--! EndIncluded api/functions/end_other_sessions.sql
--! Included api/functions/change_password.sql
create or replace function api.change_password(
  user_id uuid,
  current_hash text,
  password_hash text,
  browser text default null,
  is_host_only boolean default false
)
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint := (
    select u.id from identity.users as u where u.public_id = change_password.user_id
  );
begin
  perform identity.lock_account(v_user_id);
  if not identity.is_password(v_user_id, change_password.current_hash) then
    perform core.raise_error('WRONG_PASSWORD');
  end if;
  return identity.replace_password(
    v_user_id, change_password.password_hash, change_password.browser,
    change_password.is_host_only
  );
end
$$;

comment on function api.change_password(uuid, text, text, text, boolean) is
  'Changes a user''s password, if the current one is right, ends all sessions and opens another, '
  'whose cookie it returns. Errors: WRONG_PASSWORD. Locks: the account, the row of the password, '
  'the rows of the sessions.';
--! EndIncluded api/functions/change_password.sql
--! Included api/functions/rehash_password.sql
create or replace function api.rehash_password(
  user_id uuid, current_hash text, password_hash text
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint := (
    select u.id from identity.users as u where u.public_id = rehash_password.user_id
  );
begin
  perform identity.lock_account(v_user_id);
  if identity.is_password(v_user_id, rehash_password.current_hash) then -- mutant: old_password_comes_back
    perform identity.set_password(v_user_id, rehash_password.password_hash);
  end if;
end
$$;

comment on function api.rehash_password(uuid, text, text) is
  'Keeps the same password by another hash, such as one with newer parameters, unless the password '
  'has changed meanwhile. Locks: the account, the row of the password.';
--! EndIncluded api/functions/rehash_password.sql
--! Included api/functions/request_password_reset.sql
create or replace function api.request_password_reset(email text)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select identity.queue_mail('password_reset', null, request_password_reset.email)
$$;

comment on function api.request_password_reset(text) is
  'Asks for a mail with a link to set a password. Only jobs.take_mail looks whether the address '
  'has an account, so this call takes the same time for every address.';
--! EndIncluded api/functions/request_password_reset.sql
--! Included api/functions/reset_password.sql
create or replace function api.reset_password(
  token_hash bytea,
  password_hash text,
  browser text default null,
  is_host_only boolean default false,
  out user_id uuid,
  out cookie text
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_link identity.links := identity.take_link('password_reset', reset_password.token_hash);
begin
  select u.public_id into strict user_id
  from identity.users as u
  where u.id = v_link.user_id;
  cookie := identity.replace_password(
    v_link.user_id, reset_password.password_hash, reset_password.browser,
    reset_password.is_host_only
  );
end
$$;

comment on function api.reset_password(bytea, text, text, boolean) is
  'Sets the password of the user of a link, ends all sessions and opens another, whose cookie it '
  'returns. Errors: INVALID_LINK. Locks: the account, the link, the row of the password, the rows '
  'of the sessions.';
--! EndIncluded api/functions/reset_password.sql
--! Included api/functions/change_email.sql
create or replace function api.change_email(user_id uuid, email text, password_hash text)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint := (
    select u.id from identity.users as u where u.public_id = change_email.user_id
  );
  v_constraint text;
  v_column text;
begin
  perform identity.lock_account(v_user_id);
  if not identity.is_password(v_user_id, change_email.password_hash) then
    perform core.raise_error('WRONG_PASSWORD');
  end if;
  if exists (
    select
    from identity.users as u
    where u.id = v_user_id
      and lower(u.email collate "C") = lower(change_email.email collate "C")
  ) then
    perform core.raise_error('INVALID_REQUEST', 'This is your address already');
  end if;
  insert into identity.email_claims as c (user_id, email, created_at)
  values (v_user_id, change_email.email, core.now())
  on conflict on constraint email_claims_pkey do update
  set email = excluded.email, created_at = excluded.created_at;
  -- Links to an address that was asked for earlier prove nothing any more.
  delete from identity.links as l
  where l.user_id = v_user_id
    and l.kind = 'confirm_email';
  perform identity.queue_mail('confirm_email', v_user_id, change_email.email);
  perform identity.notify_user(
    'email_change_asked', v_user_id, json_build_object('email', change_email.email)
  );
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function api.change_email(uuid, text, text) is
  'Asks for another e-mail address, which holds once the link in the mail to it is followed. A '
  'mail to the present address says so; a new password ends it. Errors: WRONG_PASSWORD, '
  'INVALID_REQUEST. Locks: the account, the claim, the links of the user.';
--! EndIncluded api/functions/change_email.sql
--! Included api/functions/resend_confirmation.sql
create or replace function api.resend_confirmation(user_id uuid)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select identity.queue_mail('confirm_email', u.id, c.email)
  from identity.users as u
  join identity.email_claims as c on c.user_id = u.id
  where u.public_id = resend_confirmation.user_id
$$;

comment on function api.resend_confirmation(uuid) is
  'Sends the mail that confirms a user''s address again, if one waits for it.';
--! EndIncluded api/functions/resend_confirmation.sql
--! Included api/functions/confirm_email.sql
create or replace function api.confirm_email(
  token_hash bytea,
  handle text default null,
  user_id uuid default null,
  password_hash text default null
)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_link identity.links;
  v_claim identity.email_claims;
  v_before identity.users;
  v_user identity.users;
  v_constraint text;
  v_column text;
begin
  -- Who owns the mailbox need not be who signed up with its address, and knows the password.
  if exists (
    select
    from identity.links as l
    join identity.users as u on u.id = l.user_id
    join identity.email_claims as c on c.user_id = u.id
    where l.token_hash = confirm_email.token_hash
      and l.kind = 'confirm_email'
      and l.expires_at > core.now()
      and c.handle is not null -- mutant: change_of_address_needs_a_proof
      and u.public_id is distinct from confirm_email.user_id -- mutant: session_is_no_proof
      and not identity.is_password(u.id, confirm_email.password_hash) -- mutant: sign_up_of_a_stranger
  ) then
    return null;
  end if;
  v_link := identity.take_link('confirm_email', confirm_email.token_hash);
  delete from identity.email_claims as c
  where c.user_id = v_link.user_id
    and c.email = v_link.email
  returning c.* into v_claim;
  if not found then
    perform core.raise_error('INVALID_LINK');
  end if;
  select u.* into strict v_before
  from identity.users as u
  where u.id = v_link.user_id;

  update identity.users as u set
    email = v_claim.email,
    -- Of a sign-up; another may be chosen if it was taken meanwhile.
    handle = case
      when v_claim.handle is null then u.handle
      else coalesce(confirm_email.handle, v_claim.handle)
    end
  where u.id = v_link.user_id
  returning u.* into v_user;

  delete from identity.links as l
  where l.user_id = v_user.id
    and l.kind = 'password_reset';
  if identity.is_confirmed(v_before) then
    perform identity.queue_mail('email_changed', v_user.id, v_before.email);
  end if;
  return json_build_object('email', v_user.email, 'handle', v_user.handle);
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
  when unique_violation then
    get stacked diagnostics v_constraint = constraint_name;
    perform identity.raise_taken(v_constraint);
end
$$;

comment on function api.confirm_email(bytea, text, uuid, text) is
  'Gives a user the address that a link proves, and at the end of a sign-up the handle. Returns '
  'both. The end of a sign-up needs the user of a session, or the hash of the password, of the '
  'same account; otherwise it returns null and the link stays good. A mail reports a change to '
  'the address before. Errors: INVALID_LINK, INVALID_REQUEST, ALREADY_EXISTS: the address, which '
  'is proven here, or the handle belongs to another user; then the link stays good, and another '
  'handle may be given. Locks: the account, the link, the claim.';
--! EndIncluded api/functions/confirm_email.sql
--! Included api/functions/get_own_profile.sql
create or replace function api.get_own_profile(user_id uuid)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'id', u.public_id,
    'email', case when identity.is_confirmed(u) then u.email else c.email end,
    'emailConfirmed', identity.is_confirmed(u),
    'newEmail', case when identity.is_confirmed(u) then c.email end,
    'displayName', u.display_name,
    'handle', coalesce(c.handle, u.handle),
    'avatarUrl', u.avatar_url,
    'private', u.private,
    'leaderboardOptOut', u.leaderboard_opt_out,
    'hasPassword', p.user_id is not null,
    'balance', t.balance_cents,
    'createdAt', core.iso8601(u.created_at),
    'frozen', t.frozen_at is not null,
    'exclusion', case when t.excluded_until > n.at then json_build_object(
      'until', case when isfinite(t.excluded_until) then core.iso8601(t.excluded_until) end
    ) end,
    'limits', risk.limits_object(t, n.at)
  )
  from core.now() as n (at)
  cross join identity.users as u
  join trading.traders as t on t.user_id = u.id
  left join identity.passwords as p on p.user_id = u.id
  left join identity.email_claims as c on c.user_id = u.id
  where u.public_id = get_own_profile.user_id
$$;

comment on function api.get_own_profile(uuid) is
  'The body of GET /api/account: what a user may see of their own account, with limits and '
  'self-exclusion. Cost: a row for each open order.';
--! EndIncluded api/functions/get_own_profile.sql
--! Included api/functions/change_own_profile.sql
create or replace function api.change_own_profile(
  user_id uuid,
  display_name text default null,
  handle text default null,
  avatar_url text default null,
  private boolean default null,
  leaderboard_opt_out boolean default null
)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_claimed boolean;
  v_constraint text;
  v_column text;
begin
  perform identity.lock_account(u.id)
  from identity.users as u
  where u.public_id = change_own_profile.user_id;
  update identity.email_claims as c
  set handle = coalesce(change_own_profile.handle, c.handle)
  from identity.users as u
  where u.id = c.user_id
    and u.public_id = change_own_profile.user_id
    and c.handle is not null;
  v_is_claimed := found;
  perform identity.change_profile(
    change_own_profile.user_id, change_own_profile.private,
    change_own_profile.leaderboard_opt_out, change_own_profile.display_name,
    change_own_profile.avatar_url,
    case when not v_is_claimed then change_own_profile.handle end
  );
  update identity.users as u
  set avatar_url = null
  where u.public_id = change_own_profile.user_id
    and change_own_profile.avatar_url = '';
  return api.get_own_profile(change_own_profile.user_id);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function api.change_own_profile(uuid, text, text, text, boolean, boolean) is
  'Changes what is given of a user''s own profile, and returns the body of GET /api/account. An '
  'empty avatar_url removes the picture. Before the e-mail address is confirmed, a handle is only '
  'asked for: whether it is taken is not said. Errors: INVALID_REQUEST, ALREADY_EXISTS (the '
  'handle). Locks: the account, the claim.';
--! EndIncluded api/functions/change_own_profile.sql
--! Included api/functions/set_own_limits.sql
create or replace function api.set_own_limits(
  user_id uuid,
  day_cents bigint default null,
  week_cents bigint default null,
  month_cents bigint default null
)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint := risk.set_limits(
    set_own_limits.user_id, set_own_limits.day_cents, set_own_limits.week_cents,
    set_own_limits.month_cents, false
  );
  v_limits json := (
    select risk.limits_object(t, core.now())
    from trading.traders as t
    where t.user_id = v_user_id
  );
begin
  perform identity.notify_user('limits_changed', v_user_id, v_limits);
  return v_limits;
end
$$;

comment on function api.set_own_limits(uuid, bigint, bigint, bigint) is
  'Sets a user''s own loss limits, null for none, and marks them as reviewed; returns them. '
  'Lowering holds at once, raising and removing after 24 hours. A mail reports it. Errors: '
  'INVALID_REQUEST, NOT_FOUND. Locks: the user.';
--! EndIncluded api/functions/set_own_limits.sql
--! Included api/functions/exclude_self.sql
create or replace function api.exclude_self(user_id uuid, until timestamptz default null)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cancelled int := risk.exclude(
    exclude_self.user_id, coalesce(exclude_self.until, 'infinity')
  );
  v_until json := json_build_object('until', core.iso8601(exclude_self.until));
begin
  perform identity.notify_user('self_excluded', u.id, v_until)
  from identity.users as u
  where u.public_id = exclude_self.user_id;
  return json_build_object(
    'until', core.iso8601(exclude_self.until),
    'cancelledOrders', v_cancelled
  );
end
$$;

comment on function api.exclude_self(uuid, timestamptz) is
  'Excludes a user from trading until a time, null for good, as they ask, and cancels all their '
  'open orders. A mail reports it. Errors: INVALID_REQUEST (in the past, or earlier than the end '
  'in force), NOT_FOUND. Locks: the markets of those orders in ascending id, then the user.';
--! EndIncluded api/functions/exclude_self.sql
--! Included api/functions/list_keys.sql
create or replace function api.list_keys(user_id uuid)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object('data', coalesce(
    json_agg(
      json_build_object(
        'id', k.public_id,
        'name', k.name,
        'createdAt', core.iso8601(k.created_at),
        'lastUsedAt', core.iso8601(k.last_used_at)
      )
      order by k.id desc
    ),
    '[]'
  ))
  from identity.api_keys as k
  join identity.users as u on u.id = k.user_id
  where u.public_id = list_keys.user_id
    and k.revoked_at is null
$$;

comment on function api.list_keys(uuid) is
  'The body of GET /api/account/keys: a user''s API keys in force, newest first.';
--! EndIncluded api/functions/list_keys.sql
--! Included api/functions/create_key.sql
create or replace function api.create_key(user_id uuid, name text)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most constant int := 50;
  c_most_a_day constant int := 100;
  v_key text := identity.new_api_key('jk_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_key_hash bytea := sha256(convert_to(v_key, 'UTF8'));
  v_user identity.users;
  v_key_id uuid;
  v_constraint text;
  v_column text;
begin
  perform core.check_session();
  -- Held, so that the keys are counted one creation after the other.
  select u.* into strict v_user
  from identity.users as u
  where u.public_id = create_key.user_id
  for no key update;
  if not identity.is_confirmed(v_user) then
    perform core.raise_error('EMAIL_UNCONFIRMED');
  end if;
  if (
    select count(*)
    from identity.api_keys as k
    where k.user_id = v_user.id
      and k.revoked_at is null
  ) >= c_most then
    perform core.raise_error(
      'INVALID_STATE', format('An account has at most %s keys: revoke one first', c_most)
    );
  end if;
  if (
    select count(*)
    from identity.api_keys as k
    where k.user_id = v_user.id
      and k.created_at > core.now() - interval '1 day' -- mutant: keys_without_end
  ) >= c_most_a_day then
    perform core.raise_error(
      'INVALID_STATE', format('An account makes at most %s keys in 24 hours', c_most_a_day)
    );
  end if;
  insert into identity.api_keys (user_id, name, key_hash)
  values (v_user.id, create_key.name, v_key_hash)
  returning public_id into v_key_id;
  perform identity.notify_user(
    'new_key', v_user.id, json_build_object('name', create_key.name)
  );
  return json_build_object('id', v_key_id, 'name', create_key.name, 'key', v_key);
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function api.create_key(uuid, text) is
  'Makes an API key for its user and returns the body of POST /api/account/keys, with the key, '
  'which is not kept. A mail reports it. At most 50 keys are in force, and 100 are made in 24 '
  'hours. Errors: INVALID_REQUEST, EMAIL_UNCONFIRMED, INVALID_STATE, UNFIT_SESSION. Locks: the '
  'row of the user in identity.users, for which no trading waits.';
--! EndIncluded api/functions/create_key.sql
--! Included api/functions/revoke_key.sql
create or replace function api.revoke_key(user_id uuid, key_id uuid)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update identity.api_keys as k
  set revoked_at = coalesce(k.revoked_at, core.now())
  from identity.users as u
  where k.public_id = revoke_key.key_id
    and u.id = k.user_id
    and u.public_id = revoke_key.user_id;
  if not found then
    return false;
  end if;
  insert into trading.outbox (channel, payload)
  values ('api_key_revoked', json_build_object('apiKeyId', revoke_key.key_id));
  return true;
end
$$;

comment on function api.revoke_key(uuid, uuid) is
  'Ends an API key of a user; servers hear of it by api_key_revoked. Revoking it again changes '
  'nothing. False: the user has no such key. Locks: the row of the key.';
--! EndIncluded api/functions/revoke_key.sql
--! Included api/functions/start_passkey.sql
create or replace function api.start_passkey(
  user_id uuid,
  session_id uuid,
  out challenge bytea,
  out email text,
  out display_name text,
  out known json
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_session_id bigint := identity.fresh_session(start_passkey.user_id, start_passkey.session_id);
  v_user identity.users;
begin
  select u.* into strict v_user
  from identity.users as u
  where u.public_id = start_passkey.user_id;
  perform identity.check_new_passkey(v_user.id);
  challenge := identity.new_challenge(v_session_id);
  email := v_user.email;
  display_name := v_user.display_name;
  select coalesce(
    json_agg(
      json_build_object(
        'id', identity.base64url(p.credential_id),
        'type', 'public-key',
        'transports', p.transports
      )
      order by p.id
    ),
    '[]'
  ) into known
  from identity.passkeys as p
  where p.user_id = v_user.id;
end
$$;

comment on function api.start_passkey(uuid, uuid) is
  'What a browser needs to make a passkey for its user: a challenge, which is good once, for this '
  'session, for 5 minutes; what to call the user; and the passkeys that the user has, as WebAuthn '
  'lists them. The session must have begun within the last 10 minutes. Errors: SIGN_IN_AGAIN, '
  'EMAIL_UNCONFIRMED, INVALID_STATE, UNFIT_SESSION. Locks: the session, shared; its challenge.';
--! EndIncluded api/functions/start_passkey.sql
--! Included api/functions/add_passkey.sql
create or replace function api.add_passkey(
  user_id uuid,
  session_id uuid,
  challenge bytea,
  credential_id bytea,
  public_key bytea,
  sign_count bigint,
  transports text[],
  name text
)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user identity.users;
  v_session_id bigint;
  v_passkey identity.passkeys;
  v_constraint text;
  v_column text;
begin
  perform core.check_session();
  -- Held, so that the passkeys are counted one addition after the other.
  select u.* into strict v_user
  from identity.users as u
  where u.public_id = add_passkey.user_id
  for no key update; -- mutant: passkeys_counted_at_once
  select s.id into v_session_id
  from identity.sessions as s
  where s.public_id = add_passkey.session_id
    and s.user_id = v_user.id;
  if v_session_id is null or not identity.take_challenge(add_passkey.challenge, v_session_id) then
    perform core.raise_error('INVALID_PASSKEY');
  end if;
  perform identity.check_new_passkey(v_user.id);
  insert into identity.passkeys (
    user_id, credential_id, public_key, sign_count, transports, name, created_at
  )
  values (
    v_user.id, add_passkey.credential_id, add_passkey.public_key, add_passkey.sign_count,
    array(select distinct t.name from unnest(add_passkey.transports) as t (name) order by t.name),
    add_passkey.name, core.now()
  )
  returning * into v_passkey;
  perform identity.notify_user(
    'passkey_added', v_user.id, json_build_object('name', v_passkey.name)
  );
  return json_build_object('id', v_passkey.public_id, 'name', v_passkey.name);
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
  when unique_violation then
    perform core.raise_error('ALREADY_EXISTS', 'This passkey is registered already');
end
$$;

comment on function api.add_passkey(uuid, uuid, bytea, bytea, bytea, bigint, text[], text) is
  'Adds a passkey that has signed a challenge of api.start_passkey, which is used up, and returns '
  'the body of POST /api/account/passkeys. The caller has checked the signature. A mail reports '
  'it. An account has at most 20. Errors: INVALID_PASSKEY (the challenge), EMAIL_UNCONFIRMED, '
  'INVALID_STATE, INVALID_REQUEST, ALREADY_EXISTS, UNFIT_SESSION. Locks: the row of the user in '
  'identity.users, for which no trading waits; the challenge.';
--! EndIncluded api/functions/add_passkey.sql
--! Included api/functions/list_passkeys.sql
create or replace function api.list_passkeys(user_id uuid)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object('data', coalesce(
    json_agg(
      json_build_object(
        'id', p.public_id,
        'name', p.name,
        'createdAt', core.iso8601(p.created_at),
        'lastUsedAt', core.iso8601(p.last_used_at)
      )
      order by p.id desc
    ),
    '[]'
  ))
  from identity.passkeys as p
  join identity.users as u on u.id = p.user_id
  where u.public_id = list_passkeys.user_id
$$;

comment on function api.list_passkeys(uuid) is
  'The body of GET /api/account/passkeys: a user''s passkeys, newest first.';
--! EndIncluded api/functions/list_passkeys.sql
--! Included api/functions/remove_passkey.sql
create or replace function api.remove_passkey(user_id uuid, session_id uuid, passkey_id uuid)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint;
  v_passkey identity.passkeys;
begin
  perform core.check_session();
  -- Held, so that the ways in are counted one removal after the other.
  select u.id into strict v_user_id
  from identity.users as u
  where u.public_id = remove_passkey.user_id
  for no key update; -- mutant: ways_in_counted_at_once
  delete from identity.passkeys as p
  where p.public_id = remove_passkey.passkey_id
    and p.user_id = v_user_id
  returning p.* into v_passkey;
  if not found then
    return false;
  end if;
  -- The passkey is locked before the session, as by api.sign_in_by_passkey.
  perform identity.fresh_session(remove_passkey.user_id, remove_passkey.session_id);
  if not exists (select from identity.passwords as w where w.user_id = v_user_id)
    and not exists (select from identity.passkeys as p where p.user_id = v_user_id) -- mutant: last_passkey
  then
    perform core.raise_error(
      'INVALID_STATE', 'This passkey is the only way into the account: set a password first'
    );
  end if;
  perform identity.notify_user(
    'passkey_removed', v_user_id, json_build_object('name', v_passkey.name)
  );
  return true;
end
$$;

comment on function api.remove_passkey(uuid, uuid, uuid) is
  'Removes a passkey of a user, in a session that began within the last 10 minutes. A mail reports '
  'it. False: the user has no such passkey. Errors: SIGN_IN_AGAIN, INVALID_STATE (there is no '
  'password and no other passkey), UNFIT_SESSION. Locks: the row of the user in identity.users, '
  'for which no trading waits; the passkey; the session, shared.';
--! EndIncluded api/functions/remove_passkey.sql
--! Included api/functions/return_requests.sql
create or replace function api.return_requests(counters json)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_checks rate_limits.checks := rate_limits.read_checks(
    json_build_array(return_requests.counters)
  );
  v_taken bigint;
begin
  perform rate_limits.lock_counters(v_checks);
  for i in 1 .. cardinality(v_checks.buckets) loop
    select w.taken into v_taken
    from rate_limits.windows as w
    where w.bucket = v_checks.buckets[i] and w.subject = v_checks.subjects[i];
    delete from rate_limits.grants as g
    where g.bucket = v_checks.buckets[i]
      and g.subject = v_checks.subjects[i]
      and g.first_number = v_taken
      and g.last_number = v_taken;
    if not found then
      update rate_limits.grants as g
      set last_number = v_taken - 1
      where g.bucket = v_checks.buckets[i]
        and g.subject = v_checks.subjects[i]
        and g.last_number = v_taken;
      continue when not found;
    end if;
    update rate_limits.windows as w
    set taken = v_taken - 1
    where w.bucket = v_checks.buckets[i] and w.subject = v_checks.subjects[i];
  end loop;
end
$$;

comment on function api.return_requests(json) is
  'Takes one request back in each of these rolling windows, such as an attempt that was right: the '
  'newest that is counted. counters is one request as api.take_requests has them. Locks: the '
  'counters.';
--! EndIncluded api/functions/return_requests.sql
--! Included api/functions/get_order.sql
create or replace function api.get_order(user_id uuid, order_id uuid)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select trading.order_detail_object(o, a.shares_ahead, n.at)
  from core.now() as n (at)
  cross join trading.find_order(get_order.user_id, get_order.order_id) as o
  left join lateral trading.shares_ahead(array[o.id], n.at) as a on true
$$;

comment on function api.get_order(uuid, uuid) is
  'The body of GET /orders/:id: a user''s order, archived or not, with its fills, or null. Cost of '
  'sharesAhead: the queue before the order.';
--! EndIncluded api/functions/get_order.sql
--! Included api/functions/list_order_history.sql
create or replace function api.list_order_history(
  user_id uuid, most int, cursor text default null, market_id uuid default null
)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  -- Orders looked at, and fills shown, at most: a page may be short, and the next one goes on.
  c_window constant int := 5000;
  c_most_fills constant int := 5000;
  v_at timestamptz := core.now();
  v_before bigint := coalesce(list_order_history.cursor::bigint, 9223372036854775807);
  v_user_id bigint := (
    select u.id from identity.users as u where u.public_id = list_order_history.user_id
  );
  v_market_id bigint;
  v_seen bigint[];
  v_seen_markets bigint[];
  v_ids bigint[] := '{}';
  v_fill_count bigint := 0;
  v_next bigint;
begin
  if list_order_history.market_id is not null then
    v_market_id := coalesce((
      select m.id from catalog.markets as m where m.public_id = list_order_history.market_id
    ), 0);
  end if;
  -- The user is given as a range: an equality would let the planner walk the primary key, past the
  -- orders of all others.
  select array_agg(x.id order by x.id desc), array_agg(x.market_id order by x.id desc)
  into v_seen, v_seen_markets
  from (
    select y.id, y.market_id
    from (
      (
        select o.id, o.market_id
        from trading.orders as o
        where (o.user_id, o.id) < (v_user_id, v_before)
          and o.user_id >= v_user_id -- mutant: history_of_others
        order by o.user_id desc, o.id desc
        limit case when v_market_id is null then list_order_history.most + 1 else c_window end
      )
      union all
      (
        select a.id, a.market_id
        from trading.archived_orders as a
        where (a.user_id, a.id) < (v_user_id, v_before)
          and a.user_id >= v_user_id
        order by a.user_id desc, a.id desc
        limit case when v_market_id is null then list_order_history.most + 1 else c_window end
      )
    ) as y
    order by y.id desc
    limit case when v_market_id is null then list_order_history.most + 1 else c_window end
  ) as x;

  for i in 1 .. coalesce(cardinality(v_seen), 0) loop
    if v_market_id is null or v_seen_markets[i] = v_market_id then
      if cardinality(v_ids) = list_order_history.most or v_fill_count > c_most_fills then
        v_next := v_ids[cardinality(v_ids)];
        exit;
      end if;
      v_ids := v_ids || v_seen[i];
      v_fill_count := v_fill_count + (
        select count(*) from trading.trades as t where t.taker_order_id = v_seen[i]
      ) + (
        select count(*) from trading.trades as t where t.maker_order_id = v_seen[i]
      );
    end if;
  end loop;
  if v_next is null and v_market_id is not null and cardinality(v_seen) = c_window then
    v_next := v_seen[c_window];
  end if;

  return (
    select json_build_object(
      'data', coalesce(
        json_agg(
          trading.order_detail_object(o, a.shares_ahead, v_at) order by o.id desc
        ),
        '[]'
      ),
      'nextCursor', v_next::text
    )
    from trading.pick_orders(v_user_id, v_ids) as o
    left join trading.shares_ahead(v_ids, v_at) as a on a.order_id = o.id
  );
end
$$;

comment on function api.list_order_history(uuid, int, text, uuid) is
  'The body of GET /me/order-history: a user''s orders, archived ones too, newest first, in the '
  'form of GET /orders/:id. cursor is the nextCursor of the page before. A page is shorter than '
  'most, and still has a nextCursor, when its orders have over 5,000 fills, or when 5,000 orders '
  'were looked at for one market.';
--! EndIncluded api/functions/list_order_history.sql
--! Included api/functions/list_fills.sql
create or replace function api.list_fills(
  user_id uuid,
  most int,
  cursor text default null,
  market_id uuid default null,
  order_id uuid default null
)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  -- Trades looked at, at most: a page may be short, and the next one goes on.
  c_window constant int := 5000;
  v_before bigint := coalesce(list_fills.cursor::bigint, 9223372036854775807);
  v_user_id bigint := (
    select u.id from identity.users as u where u.public_id = list_fills.user_id
  );
  v_market_id bigint;
  v_order_id bigint;
  v_limit int := list_fills.most + 1;
  v_seen bigint[];
  v_ids bigint[];
  v_next bigint;
begin
  if list_fills.market_id is not null then
    v_market_id := coalesce((
      select m.id from catalog.markets as m where m.public_id = list_fills.market_id
    ), 0);
    v_limit := c_window;
  end if;
  if list_fills.order_id is not null then
    v_order_id := coalesce((
      select o.id from trading.find_order(list_fills.user_id, list_fills.order_id) as o -- mutant: fills_of_anothers_order
    ), 0);
    v_seen := array(
      select x.id
      from (
        select t.id from trading.trades as t where t.taker_order_id = v_order_id
        union all
        select t.id from trading.trades as t where t.maker_order_id = v_order_id
      ) as x
      where x.id < v_before
      order by x.id desc
      limit v_limit
    );
  else
    -- The user is given as a range: an equality would let the planner walk the primary key, past
    -- the trades of all others.
    v_seen := array(
      select x.id
      from (
        (
          select t.id
          from trading.trades as t
          where (t.taker_user_id, t.id) < (v_user_id, v_before)
            and t.taker_user_id >= v_user_id
          order by t.taker_user_id desc, t.id desc
          limit v_limit
        )
        union all
        (
          select t.id
          from trading.trades as t
          where (t.maker_user_id, t.id) < (v_user_id, v_before)
            and t.maker_user_id >= v_user_id
          order by t.maker_user_id desc, t.id desc
          limit v_limit
        )
      ) as x
      order by x.id desc
      limit v_limit
    );
  end if;
  v_ids := case
    when v_market_id is null then v_seen
    else array(
      select t.id
      from unnest(v_seen) as s (id)
      join trading.trades as t on t.id = s.id
      where t.market_id = v_market_id
      order by t.id desc
      limit list_fills.most + 1
    )
  end;
  if cardinality(v_ids) > list_fills.most then
    v_ids := v_ids[1:list_fills.most];
    v_next := v_ids[list_fills.most];
  elsif v_market_id is not null and cardinality(v_seen) = c_window then
    v_next := v_seen[c_window];
  end if;

  return (
    select json_build_object(
      'data', coalesce(json_agg(f.fill order by f.trade_id desc), '[]'),
      'nextCursor', v_next::text
    )
    from trading.own_fills(v_ids, v_user_id) as f
  );
end
$$;

comment on function api.list_fills(uuid, int, text, uuid, uuid) is
  'The body of GET /me/fills: a user''s fills, newest first, of all orders, of one market or of '
  'one order. cursor is the nextCursor of the page before. A page of one market is shorter than '
  'most, and still has a nextCursor, when 5,000 of the user''s trades were looked at for it.';
--! EndIncluded api/functions/list_fills.sql
--! Included api/functions/get_statement.sql
create or replace function api.get_statement(
  user_id uuid,
  most int,
  cursor text default null,
  since timestamptz default null,
  until timestamptz default null
)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  -- Entries looked at, at most, for a time that is long ago: the next page goes on.
  c_window constant int := 5000;
  v_before_id bigint := coalesce(
    split_part(get_statement.cursor, '.', 1)::bigint, 9223372036854775807
  );
  v_before_version bigint := coalesce(
    split_part(get_statement.cursor, '.', 2)::bigint, 9223372036854775807
  );
  v_user_id bigint := (
    select u.id from identity.users as u where u.public_id = get_statement.user_id
  );
  v_account_id bigint := ledger.user_account_id(v_user_id);
  v_limit int := case
    when get_statement.until is null then get_statement.most + 1 else c_window
  end;
begin
  -- The user is given as a range: an equality would let the planner walk the primary key, past the
  -- trades of all others.
  return (
    with seen as materialized (
      select x.*
      from (
        (
          select
            e.journal_id, e.account_version as version, e.amount_cents, e.balance_after_cents,
            j.kind, j.market_id, null::uuid as trade_id, j.created_at
          from ledger.posted_entries as e
          cross join lateral (
            select y.* from ledger.posted_journals as y where y.id = e.journal_id limit 1
          ) as j
          where e.account_id = v_account_id
            and e.account_version < v_before_version -- mutant: entry_on_two_pages
          order by e.account_version desc
          limit v_limit
        )
        union all
        (
          select
            t.id, t.taker_version, t.taker_cents, t.taker_balance_cents,
            'trade'::ledger.journal_kind, t.market_id, t.public_id, t.created_at
          from trading.trades as t
          where (t.taker_user_id, t.id) < (v_user_id, v_before_id) -- mutant: trade_on_two_pages
            and t.taker_user_id >= v_user_id
            and t.taker_cents <> 0
          order by t.taker_user_id desc, t.id desc
          limit v_limit
        )
        union all
        (
          select
            t.id, t.maker_version, t.maker_cents, t.maker_balance_cents,
            'trade'::ledger.journal_kind, t.market_id, t.public_id, t.created_at
          from trading.trades as t
          where (t.maker_user_id, t.id) < (v_user_id, v_before_id)
            and t.maker_user_id >= v_user_id -- mutant: statement_of_others
            and t.maker_cents <> 0
          order by t.maker_user_id desc, t.id desc
          limit v_limit
        )
      ) as x
      order by x.version desc
      limit v_limit
    ),
    picked as materialized (
      select s.*, row_number() over (order by s.version desc) as place
      from seen as s
      where (get_statement.since is null or s.created_at >= get_statement.since)
        and (get_statement.until is null or s.created_at < get_statement.until)
      order by s.version desc
      limit get_statement.most + 1
    )
    select json_build_object(
      'data', coalesce(
        json_agg(
          json_build_object(
            'id', p.version,
            'kind', p.kind,
            'amountCents', p.amount_cents,
            'balanceAfter', p.balance_after_cents,
            'marketId', m.public_id,
            'tradeId', p.trade_id,
            'reference', c.reference,
            'createdAt', core.iso8601(p.created_at)
          )
          order by p.version desc
        ) filter (where p.place <= get_statement.most),
        '[]'
      ),
      'nextCursor', case
        when max(p.place) > get_statement.most then (
          select x.journal_id || '.' || x.version
          from picked as x
          where x.place = get_statement.most
        )
        -- Nothing more is in the time asked for once entries are older than it.
        when (select count(*) from seen) = v_limit then (
          select case
            when get_statement.since is null or y.created_at >= get_statement.since
            then y.journal_id || '.' || y.version
          end
          from seen as y
          order by y.version
          limit 1
        )
      end
    )
    from picked as p
    left join lateral (
      select z.public_id from catalog.markets as z where z.id = p.market_id limit 1
    ) as m on true
    left join lateral (
      select w.reference from ledger.cash_movements as w where w.journal_id = p.journal_id limit 1
    ) as c on p.kind in ('deposit', 'withdrawal')
  );
end
$$;

comment on function api.get_statement(uuid, int, text, timestamptz, timestamptz) is
  'The body of GET /me/statement: the entries of a user''s account in the ledger, newest first. id '
  'is the number of the entry in the account, from 1 and without a gap. cursor is the nextCursor '
  'of the page before. With until, a page is shorter than most and still has a nextCursor when '
  '5,000 entries were looked at.';
--! EndIncluded api/functions/get_statement.sql
--! Included api/functions/get_own_positions.sql
create or replace function api.get_own_positions(user_id uuid, market_id uuid default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_settled constant int := 200;
  v_user_id bigint;
  v_balance_cents bigint;
  v_answer json;
begin
  select t.user_id, t.balance_cents into v_user_id, v_balance_cents
  from trading.traders as t
  where t.public_id = get_own_positions.user_id;

  with own as materialized (
    select
      p.*, m.id as market_number, m.title, m.status, m.close_time, m.resolved_outcome,
      m.resolved_at, b.last_trade_price,
      get_own_positions.market_id is null or p.market_id = get_own_positions.market_id as is_listed
    from analytics.positions as p
    join catalog.markets as m on m.id = p.market_key
    join trading.market_state as b on b.market_id = m.id
    where p.user_key = v_user_id
  ),
  newest as (
    select o.*
    from own as o
    where o.is_listed
      and o.is_settled
      and o.quantity > 0
    order by o.resolved_at desc, o.market_number desc, o.side desc
    limit c_most_settled
  )
  select json_build_object(
    'balance', v_balance_cents,
    'worthCents', s.worth_cents,
    'accountValueCents', v_balance_cents + s.worth_cents,
    'unrealisedCents', s.unrealised_cents,
    'realisedCents', s.realised_cents,
    'positions', (
      select coalesce(
        json_agg(
          json_build_object(
            'id', o.position_id,
            'marketId', o.market_id,
            'marketTitle', o.title,
            'marketStatus', o.status,
            'side', o.side,
            'quantity', o.quantity,
            'costCents', o.cost_cents,
            'buyFeesCents', o.fee_cents,
            'lastPrice', case
              when o.side = 'yes' then o.last_trade_price
              else 100 - o.last_trade_price
            end,
            'worthCents', o.mark_value_cents,
            'unrealisedCents', o.unrealised_cents,
            'realisedCents', o.realised_cents
          )
          order by o.close_time nulls last, o.market_number, o.side desc
        ),
        '[]'
      )
      from own as o
      where o.is_listed
        and o.open_quantity > 0
    ),
    'settled', (
      select coalesce(
        json_agg(
          json_build_object(
            'id', n.position_id,
            'marketId', n.market_id,
            'marketTitle', n.title,
            'side', n.side,
            'quantity', n.quantity,
            'costCents', n.cost_cents,
            'buyFeesCents', n.fee_cents,
            'outcome', n.resolved_outcome,
            'payoutCents', n.quantity * n.mark_price_cents,
            'realisedCents', n.realised_cents,
            'settledAt', core.iso8601(n.resolved_at)
          )
          order by n.resolved_at desc, n.market_number desc, n.side desc
        ),
        '[]'
      )
      from newest as n
    )
  )
  into v_answer
  from (
    select
      coalesce(sum(o.mark_value_cents), 0)::bigint as worth_cents,
      coalesce(sum(o.unrealised_cents), 0)::bigint as unrealised_cents,
      coalesce(sum(o.realised_cents), 0)::bigint as realised_cents
    from own as o
  ) as s;
  return v_answer;
end
$$;

comment on function api.get_own_positions(uuid, uuid) is
  'What the pages show of a user''s shares, by the figures of analytics.positions: cash, the sums '
  'over all positions, those that hold shares by the close time of their market, and the 200 that '
  'were settled last. With a market, the lists have only its positions; the sums are those of all. '
  'realisedCents + unrealisedCents is the user''s result: accountValueCents less net deposits.';
--! EndIncluded api/functions/get_own_positions.sql
--! Included api/functions/list_market_titles.sql
create or replace function api.list_market_titles(market_ids uuid[])
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'data', coalesce(
      json_agg(json_build_object('id', m.public_id, 'title', m.title) order by m.public_id),
      '[]'
    )
  )
  from catalog.markets as m
  where m.public_id = any (list_market_titles.market_ids)
$$;

comment on function api.list_market_titles(uuid[]) is
  'The titles of these markets, for rows that have only a market''s id; unknown ones are left out.';
--! EndIncluded api/functions/list_market_titles.sql
--! Included api/functions/list_markets.sql
create or replace function api.list_markets(
  page int,
  page_size int,
  query text default null,
  category text default null,
  status text default 'open',
  sort text default 'volume'
)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_first bigint := (list_markets.page - 1)::bigint * list_markets.page_size + 1;
  v_category_id bigint;
  v_query tsquery;
  v_ids bigint[];
begin
  if list_markets.status not in ('open', 'closed', 'all') then
    perform core.raise_error('INVALID_REQUEST', 'status: unknown');
  end if;
  if list_markets.sort not in ('volume', 'newest', 'closing') then
    perform core.raise_error('INVALID_REQUEST', 'sort: unknown');
  end if;
  if list_markets.category is not null then
    select c.id into v_category_id
    from catalog.categories as c
    where c.slug = list_markets.category;
    if not found then
      return null;
    end if;
  end if;
  if list_markets.query ~ '[^[:space:]]' then
    v_query := catalog.search_query(list_markets.query);
  end if;

  v_ids := array(
    select m.id
    from (
      -- Either all markets, or by the index those with the words: one of the two is empty.
      select x.id, x.category_id, x.status, x.close_time
      from catalog.markets as x
      where v_query is null
      union all
      select x.id, x.category_id, x.status, x.close_time
      from catalog.markets as x
      where x.words @@ v_query
    ) as m
    where (v_category_id is null or m.category_id = v_category_id)
      and case list_markets.status
        when 'open' then m.status = 'open'
        when 'closed' then m.status in ('closed', 'resolved')
        else true
      end
    order by
      case when list_markets.sort = 'volume' then (
        select b.yes_volume_cents + b.no_volume_cents
        from trading.market_state as b
        where b.market_id = m.id
      ) end desc,
      case when list_markets.sort = 'closing' then m.close_time end,
      m.id desc
  );

  return (
    select core.page_object(
      json_agg(
        json_build_object(
          'id', m.public_id,
          'title', m.title,
          'description', m.description,
          'category', c.slug,
          'status', m.status,
          'eventId', e.public_id,
          'lastTradePrice', b.last_trade_price,
          'yesVolume', b.yes_volume_cents,
          'noVolume', b.no_volume_cents,
          'closeTime', core.iso8601(m.close_time),
          'createdAt', core.iso8601(m.created_at),
          'resolvedOutcome', m.resolved_outcome,
          'thumbnailId', m.thumbnail_id,
          'thumbnailUrl', m.thumbnail_url
        )
        order by p.place
      ),
      cardinality(v_ids),
      list_markets.page,
      list_markets.page_size
    )
    from unnest(
      case when v_first <= cardinality(v_ids)
        then v_ids[v_first:v_first + list_markets.page_size - 1]
      end
    ) with ordinality as p (id, place)
    join catalog.markets as m on m.id = p.id
    join catalog.categories as c on c.id = m.category_id
    join trading.market_state as b on b.market_id = m.id
    left join catalog.events as e on e.id = m.event_id
  );
end
$$;

comment on function api.list_markets(int, int, text, text, text, text) is
  'The body of GET /markets, or null for an unknown category: markets whose title, with that of '
  'the event, has all words of query. status: open, closed (resolved ones too) or all; sort: '
  'volume (both sides, in cents), newest, or closing (soonest first, without a close time last); '
  'page counts from 1. Cost: a row for each market, or with words for each that has them, and for '
  'volume one more; no trade is read. Errors: INVALID_REQUEST.';
--! EndIncluded api/functions/list_markets.sql
--! Included api/functions/list_candles.sql
create or replace function api.list_candles(
  market_id uuid,
  "interval" text,
  since timestamptz default null,
  until timestamptz default null
)
returns table (version bigint, body json)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  c_most_candles constant int := 1000;
  -- More trades than a minute has are without candles only if no worker runs.
  c_most_trades constant int := 10000;
  v_width_minutes constant int := case list_candles.interval
    when '1m' then 1 when '1h' then 60 when '1d' then 1440
  end;
  v_market_id bigint;
  v_since timestamptz := coalesce(date_bin(
    v_width_minutes * interval '1 minute', list_candles.since, '2000-01-01 00:00:00+00'
  ), '-infinity');
  v_until timestamptz := coalesce(list_candles.until, 'infinity');
  v_made_up_to bigint;
begin
  if v_width_minutes is null then
    perform core.raise_error('INVALID_REQUEST', 'interval: must be one of 1m, 1h, 1d');
  end if;
  select m.id, coalesce(p.last_trade_id, 0) into v_market_id, v_made_up_to
  from catalog.markets as m
  left join trading.candle_progress as p on p.market_id = m.id
  where m.public_id = list_candles.market_id;

  return query
  with recent as (
    select array(
      select t
      from trading.trades as t
      -- As a range: an equality would let the planner walk the primary key.
      where (t.market_id, t.id) > (v_market_id, v_made_up_to)
        and t.market_id <= v_market_id
      order by t.market_id desc, t.id desc
      limit c_most_trades
    ) as trades
  ),
  pieces as (
    (
      select 0 as place, c.*
      from trading.candles as c
      where c.market_id = v_market_id
        and c.width_minutes = v_width_minutes
        and c.start_at >= v_since
        and c.start_at < v_until -- mutant: candle_at_the_end
      order by c.start_at desc
      limit c_most_candles
    )
    union all
    select 1, n.*
    from recent as r
    cross join lateral trading.candles_of(r.trades, v_width_minutes) as n
    where n.start_at >= v_since
      and n.start_at < v_until
  ),
  candles as (
    select
      x.start_at,
      (array_agg(x.open_price order by x.place))[1] as open_price,
      max(x.high_price) as high_price,
      min(x.low_price) as low_price,
      (array_agg(x.close_price order by x.place desc))[1] as close_price,
      sum(x.quantity)::bigint as quantity,
      sum(x.trade_count)::bigint as trade_count
    from pieces as x
    group by x.start_at
    order by x.start_at desc
    limit c_most_candles
  )
  select b.version, json_build_object('data', coalesce(
    (
      select json_agg(
        json_build_object(
          'start', core.iso8601(c.start_at),
          'open', c.open_price,
          'high', c.high_price,
          'low', c.low_price,
          'close', c.close_price,
          'volume', c.quantity,
          'trades', c.trade_count
        )
        order by c.start_at
      )
      from candles as c
    ),
    '[]'
  ))
  from trading.market_state as b
  where b.market_id = v_market_id;
end
$$;

comment on function api.list_candles(uuid, text, timestamptz, timestamptz) is
  'The body of GET /markets/:id/candles, and the version of the market; no row for an unknown '
  'market. interval is 1m, 1h or 1d; since and until bound the time, the interval in which since '
  'lies included. The newest 1,000 at most, oldest first. Cost: those rows, and the trades since '
  'jobs.make_candles last ran, at most 10,000. Errors: INVALID_REQUEST.';
--! EndIncluded api/functions/list_candles.sql
--! Included api/functions/get_market_rules.sql
create or replace function api.get_market_rules(market_id uuid)
returns table (version bigint, body json)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz := core.now();
begin
  return query
  select
    b.version,
    json_build_object(
      'feeRateBps', f.taker_rate_bps,
      'live', e.id is not null
        and (e.starts_at is null or e.starts_at <= v_at)
        and (e.ends_at is null or e.ends_at > v_at),
      'liveDelayMs', e.live_delay_ms,
      'liveFrom', core.iso8601(e.starts_at),
      'liveUntil', core.iso8601(e.ends_at),
      'minPrice', 1,
      'maxPrice', 99,
      'maxQuantity', 10000,
      'version', b.version
    )
  from catalog.markets as m
  join trading.market_state as b on b.market_id = m.id
  left join trading.fee_in_force(m.id, m.category_id, v_at) as f on true
  left join catalog.events as e on e.id = m.event_id and e.live
  where m.public_id = get_market_rules.market_id;
end
$$;

comment on function api.get_market_rules(uuid) is
  'The body of GET /markets/:id/rules and the version of the market; no row for an unknown market. '
  'live: an order that is placed now waits liveDelayMs before it is matched. These three times are '
  'null when the event of the market is not live-traded, or has no such bound.';
--! EndIncluded api/functions/get_market_rules.sql
--! Included api/functions/get_market_resolution.sql
create or replace function api.get_market_resolution(market_id uuid)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'outcome', m.resolved_outcome,
    'yesPayoutCents', m.yes_payout_cents,
    'noPayoutCents', 100 - m.yes_payout_cents,
    'resolvedAt', core.iso8601(m.resolved_at),
    'correctedAt', (
      select core.iso8601(r.created_at)
      from trading.resolutions as r
      where r.market_id = m.id
        and r.corrects_resolution_id is not null
      order by r.id desc
      limit 1
    )
  )
  from catalog.markets as m
  where m.public_id = get_market_resolution.market_id
    and m.status = 'resolved'
$$;

comment on function api.get_market_resolution(uuid) is
  'How a market was resolved, what its shares paid, and when it was last corrected; null for a '
  'market that is unknown or not resolved.';
--! EndIncluded api/functions/get_market_resolution.sql
--! Included api/functions/get_exchange.sql
create or replace function api.get_exchange(version text)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'status', case when s.trading_paused then 'paused' else 'trading' end,
    'reason', case when s.trading_paused then s.trading_pause_reason end,
    'time', core.iso8601(core.now()),
    'version', get_exchange.version
  )
  from core.settings as s
$$;

comment on function api.get_exchange(text) is
  'The body of GET /exchange: whether trading is paused, why, and the time of the database, to '
  'the millisecond. version is that of the server that asks.';
--! EndIncluded api/functions/get_exchange.sql
--! Included api/functions/get_mail_metrics.sql
create or replace function api.get_mail_metrics()
returns table (waiting_mails bigint, oldest_mail_age_seconds double precision, failed_mails bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $$
declare
  c_most_counted constant int := 10000;
begin
  select count(*), coalesce(extract(epoch from core.now() - min(w.created_at)), 0)
  into waiting_mails, oldest_mail_age_seconds
  from (
    select m.created_at
    from identity.mails as m
    where m.due_at is not null
    limit c_most_counted
  ) as w;
  select count(*) into failed_mails
  from (
    select
    from identity.mails as m
    where m.due_at is null and m.sent_at is null
    limit c_most_counted
  ) as f;
  return next;
end
$$;

comment on function api.get_mail_metrics() is
  'One row of figures for monitoring: mails that wait to be sent, how old the oldest of these is '
  '(0: none waits), and mails of the last 30 days that were given up. Counting stops at 10,000, '
  'and reads no other mails.';
--! EndIncluded api/functions/get_mail_metrics.sql
--! Included jobs/functions/next_work.sql
create or replace function jobs.next_work(
  passing_over bigint[] default '{}',
  out release_in_ms double precision,
  out expire_in_ms double precision,
  out close_in_ms double precision,
  out mail_in_ms double precision
)
language sql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
  select d.release_in_ms, d.expire_in_ms, d.close_in_ms, 1000 * extract(epoch from m.due_at - n.at)
  from jobs.next_due(next_work.passing_over) as d
  cross join core.now() as n (at)
  left join lateral (
    select x.due_at
    from identity.mails as x
    where x.due_at is not null
    order by x.due_at
    limit 1
  ) as m on true
$$;

comment on function jobs.next_work(bigint[]) is
  'What jobs.next_due says, and in how many milliseconds the next mail is to be sent. Locks: none.';
--! EndIncluded jobs/functions/next_work.sql
--! Included jobs/functions/take_mail.sql
create or replace function jobs.take_mail()
returns table (mail_id bigint, kind text, address text, details json, token text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz := core.now();
  v_mail identity.mails;
  v_owner_id bigint;
  v_is_claimed boolean;
begin
  perform core.check_session();
  loop
    -- Somebody waits for a mail with a link.
    select m.* into v_mail
    from identity.mails as m
    where m.due_at <= v_at
      and m.kind in ('confirm_email', 'password_reset', 'invitation') -- mutant: notices_before_links
    order by m.due_at
    limit 1
    for update skip locked; -- mutant: locked_mail_waited_for
    if not found then
      select m.* into v_mail
      from identity.mails as m
      where m.due_at <= v_at
      order by m.due_at
      limit 1
      for update skip locked;
    end if;
    if not found then
      return;
    end if;
    select u.id into v_owner_id
    from identity.users as u
    where lower(u.email collate "C") = lower(v_mail.address collate "C")
      and identity.is_confirmed(u);
    v_is_claimed := exists (
      select
      from identity.email_claims as c
      where c.user_id = v_mail.user_id
        and c.email = v_mail.address
    );
    exit when case v_mail.kind
      when 'confirm_email' then v_is_claimed
      when 'password_reset' then v_owner_id is not null
      else true
    end;
    -- Nothing to send: no user has the address, or the user asked for another one meanwhile.
    delete from identity.mails as m
    where m.id = v_mail.id;
  end loop;

  update identity.mails as m set
    attempts = m.attempts + 1,
    due_at = case
      when m.attempts < 9 then v_at + least(power(2, m.attempts), 60) * interval '1 minute'
    end
  where m.id = v_mail.id;

  mail_id := v_mail.id;
  kind := v_mail.kind;
  address := v_mail.address;
  details := v_mail.details;
  if kind = 'confirm_email' and v_owner_id is not null then -- mutant: link_to_a_taken_address
    -- Only the owner of the address learns that it has an account.
    kind := 'address_taken';
  elsif kind = 'confirm_email' then
    -- Of a sign-up: so that the owner of the address sees whether it is the own one.
    select json_build_object('handle', c.handle, 'displayName', u.display_name) into details
    from identity.email_claims as c
    join identity.users as u on u.id = c.user_id
    where c.user_id = v_mail.user_id
      and c.handle is not null;
    details := coalesce(details, v_mail.details);
    token := identity.make_link(kind, v_mail.user_id, address, interval '3 days');
  elsif kind = 'password_reset' then
    token := identity.make_link(kind, v_owner_id, null, interval '1 hour');
  elsif kind = 'invitation' then
    token := identity.make_link(kind, null, address, interval '14 days');
  end if;
  return next;
end
$$;

comment on function jobs.take_mail() is
  'The next mail to send, those with links first: one row, or none. A mail with a link has the '
  'link''s token, which is made for this attempt and not kept. Unless jobs.finish_mail is called, '
  'the mail is due again after a minute, and then after ever longer, 10 times. Errors: '
  'UNFIT_SESSION. Locks: the mail, none that it would wait for.';
--! EndIncluded jobs/functions/take_mail.sql
--! Included jobs/functions/finish_mail.sql
create or replace function jobs.finish_mail(mail_id bigint, error text default null)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  update identity.mails as m set
    due_at = case when finish_mail.error is not null then m.due_at end,
    sent_at = case when finish_mail.error is null then core.now() end,
    last_error = left(finish_mail.error, 1000)
  where m.id = finish_mail.mail_id
$$;

comment on function jobs.finish_mail(bigint, text) is
  'Notes that a mail was sent, or, with an error, that it was not and stays due. Locks: its row.';
--! EndIncluded jobs/functions/finish_mail.sql
--! Included jobs/functions/remove_mails.sql
create or replace function jobs.remove_mails(most int default 1000)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_at timestamptz := core.now();
  v_mails int;
  v_links int;
  v_challenges int;
begin
  -- Picked once, in an array: as a subquery it might be run again for each row, past its limit.
  delete from identity.mails as m
  where m.id = any (array(
    select x.id
    from identity.mails as x
    where x.created_at <= v_at - interval '30 days'
    order by x.created_at
    limit remove_mails.most
    for update skip locked
  ));
  get diagnostics v_mails = row_count;
  delete from identity.links as l
  where l.token_hash = any (array(
    select x.token_hash
    from identity.links as x
    where x.expires_at <= v_at
    order by x.expires_at
    limit remove_mails.most
    for update skip locked
  ));
  get diagnostics v_links = row_count;
  delete from identity.passkey_challenges as c
  where c.challenge = any (array(
    select x.challenge
    from identity.passkey_challenges as x
    where x.expires_at <= v_at
    order by x.expires_at
    limit remove_mails.most
    for update skip locked
  ));
  get diagnostics v_challenges = row_count;
  return v_mails + v_links + v_challenges;
end
$$;

comment on function jobs.remove_mails(int) is
  'Removes mails after 30 days, and links and challenges of passkeys that have expired, at most so '
  'many of each; returns how many. Locks: their rows, none that it would wait for.';
--! EndIncluded jobs/functions/remove_mails.sql
--! Included jobs/functions/remove_sign_ups.sql
create or replace function jobs.remove_sign_ups(most int default 100)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz := core.now();
  v_user_id bigint;
  v_claimed_at timestamptz;
  v_public_id uuid;
  v_has_orders boolean;
  v_market_ids bigint[];
  v_count int := 0;
begin
  perform core.check_session();
  for v_user_id, v_public_id, v_claimed_at in
    -- Accounts are locked before their claims.
    select u.id, u.public_id, x.created_at
    from identity.email_claims as x
    join identity.users as u on u.id = x.user_id
    where x.created_at <= v_at - interval '30 days' -- mutant: sign_up_ends_early
      and x.handle is not null -- mutant: change_of_address_ends_the_account
    order by x.created_at
    limit remove_sign_ups.most
    for no key update of u skip locked
  loop
    v_has_orders := exists (select from trading.active_orders as b where b.user_id = v_user_id);
    -- Markets are locked before anything else, so an account with orders is alone in its call.
    exit when v_has_orders and v_count > 0;
    delete from identity.email_claims as c
    where c.user_id = v_user_id
      and c.created_at = v_claimed_at;
    -- Confirmed a moment ago.
    continue when not found;
    if v_has_orders then
      v_market_ids := trading.lock_user_with_markets(v_public_id);
      perform trading.clear_orders_of_user(
        v_user_id, v_market_ids, 'user_cancelled', core.now() -- mutant: orders_outlive_a_sign_up
      );
    end if;
    v_count := v_count + 1;
    perform identity.end_sessions(array(
      select s.id from identity.sessions as s where s.user_id = v_user_id
    ));
    delete from identity.passwords as p where p.user_id = v_user_id;
    delete from identity.links as l where l.user_id = v_user_id;
    delete from identity.mails as m where m.user_id = v_user_id;
    -- Held first, so that the next statement sees what the user did until now.
    perform
    from trading.traders as t
    where t.user_id = v_user_id
    for update;
    -- Who had money or orders is part of the ledger's history.
    begin
      delete from trading.traders as t
      where t.user_id = v_user_id
        and t.account_version = 0
        and not exists (select from trading.orders as o where o.user_id = v_user_id)
        and not exists (select from trading.archived_orders as o where o.user_id = v_user_id);
      if found then
        delete from identity.users as u where u.id = v_user_id;
      end if;
    exception when foreign_key_violation then
      null; -- an operator has used the account
    end;
    exit when v_has_orders;
  end loop;
  return v_count;
end
$$;

comment on function jobs.remove_sign_ups(int) is
  'Ends accounts whose e-mail address was not confirmed within 30 days, at most so many; returns '
  'how many: one, if it has open orders, which are cancelled (user_cancelled). Their passwords '
  'and sessions are removed; those without money and orders altogether. The money of others '
  'stays. Locks: the accounts, none that it would wait for; the claims; the markets of the orders '
  'in ascending id, the user; the rows of sessions, passwords, links and mails. Errors: '
  'UNFIT_SESSION.';
--! EndIncluded jobs/functions/remove_sign_ups.sql
--! Included jobs/functions/make_candles.sql
create or replace function jobs.make_candles(most int default 10000)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_progress trading.candle_progress;
  v_trades trading.trades[];
begin
  perform core.check_session();
  insert into trading.candle_progress (market_id)
  select b.market_id
  from trading.market_state as b
  where b.trade_count > 0
    and not exists (
      select from trading.candle_progress as p where p.market_id = b.market_id
    )
  on conflict on constraint candle_progress_pkey do nothing;

  select p.* into v_progress
  from trading.candle_progress as p
  join trading.market_state as b on b.market_id = p.market_id
  where b.trade_count > p.trade_count
  limit 1
  for update of p skip locked;
  if not found then
    return 0;
  end if;

  v_trades := array(
    select t
    from trading.trades as t
    -- As a range: an equality would let the planner walk the primary key.
    where (t.market_id, t.id) > (v_progress.market_id, v_progress.last_trade_id) -- mutant: trade_in_candles_twice
      and t.market_id <= v_progress.market_id
    order by t.market_id, t.id
    limit make_candles.most
  );
  if cardinality(v_trades) = 0 then
    return 0;
  end if;
  insert into trading.candles as c
  select n.*
  from (values (1), (60), (1440)) as w (width_minutes)
  cross join lateral trading.candles_of(v_trades, w.width_minutes) as n
  on conflict on constraint candles_pkey do update set
    high_price = greatest(c.high_price, excluded.high_price),
    low_price = least(c.low_price, excluded.low_price),
    close_price = excluded.close_price,
    quantity = c.quantity + excluded.quantity,
    trade_count = c.trade_count + excluded.trade_count;

  update trading.candle_progress as p set
    last_trade_id = (v_trades[cardinality(v_trades)]).id,
    trade_count = p.trade_count + cardinality(v_trades)
  where p.market_id = v_progress.market_id;
  return cardinality(v_trades);
end
$$;

comment on function jobs.make_candles(int) is
  'Makes candles of trades that have none yet, of one market, at most so many; returns how many '
  'trades. Cost: a row for each market that ever traded, and those trades. Errors: UNFIT_SESSION. '
  'Locks: the row of the market''s progress, none that it would wait for.';
--! EndIncluded jobs/functions/make_candles.sql
--! Included trading/functions/rehearse.sql
-- A function is compiled and its statements are planned by each connection at their first use.
-- This uses them, by the functions that callers call, whatever those are made of.
create or replace function trading.rehearse(is_live boolean)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_done constant text := 'EX999';
  v_name constant text := 'rehearsal-' || replace(core.uuid_v7()::text, '-', '');
  v_event uuid;
  v_market uuid;
  v_market_id bigint;
  v_maker uuid;
  v_taker uuid;
  v_order uuid;
begin
  perform core.check_session();
  begin
    perform admin.create_category(v_name, v_name, 0);
    if rehearse.is_live then
      v_event := admin.create_event(v_name, v_name, live => true, live_delay_ms => 0);
    end if;
    v_market := admin.create_market(v_name, v_name, event_id => v_event);
    select m.id into strict v_market_id
    from catalog.markets as m
    where m.public_id = v_market;
    v_maker := admin.create_user(v_name || '@maker.invalid', v_name, left(v_name, 38) || '-1');
    v_taker := admin.create_user(v_name || '@taker.invalid', v_name, left(v_name, 38) || '-2');
    perform admin.set_loss_limits(v_maker, null, null, null);
    perform admin.set_loss_limits(v_taker, 1000000, null, null);
    -- A deposit would hold up those of others.
    update trading.traders as t
    set balance_cents = 1000000
    where t.public_id in (v_maker, v_taker);

    for v_round in 1 .. 2 loop
      v_order := trading.rehearse_orders(v_market, v_maker, '{"side": "no", "price": 40}');
      perform trading.rehearse_orders(v_market, v_maker, '{"side": "no", "price": 41}');
      if rehearse.is_live then
        perform jobs.next_work();
        perform jobs.due_release_groups();
        perform jobs.release_group(array[v_market_id]);
      end if;
      perform api.amend_order(v_maker, v_order, 42, null);
      perform trading.rehearse_orders(
        v_market, v_taker, '{"side": "yes", "price": 58, "quantity": 1}'
      );
      perform trading.rehearse_orders(
        v_market, v_taker, '{"side": "yes", "price": 60, "quantity": 12}'
      );
      perform trading.rehearse_orders(
        v_market, v_taker,
        '{"side": "yes", "price": null, "quantity": 1}',
        '{"side": "yes", "budgetCents": 100, "quantity": null}',
        '{"side": "yes", "price": 60, "quantity": 1, "timeInForce": "ioc"}',
        jsonb_build_object(
          'side', 'yes', 'price', 2, 'postOnly', true, 'idempotencyKey', core.uuid_v7()
        ),
        '{"side": "yes", "price": 1, "quantity": 1, "orderType": "sell"}'
      );
      perform api.split_position(v_maker, v_market, 2);
      perform trading.rehearse_orders(
        v_market, v_maker, '{"side": "yes", "price": 99, "quantity": 1, "orderType": "sell"}'
      );
      perform api.merge_position(v_maker, v_market, 1);
      perform api.cancel_order(v_maker, v_order);
      if rehearse.is_live then
        perform jobs.release_orders(v_market_id);
      end if;
    end loop;
    raise exception using errcode = c_done;
  exception when sqlstate 'EX999' then
    null;
  end;
end
$$;

comment on function trading.rehearse(boolean) is
  'Trades in a market of its own and rolls all of it back, so that a new connection has compiled '
  'and planned what its first order needs; also releases, in a live market. Only numbers of '
  'sequences are used up. Errors: UNFIT_SESSION. Locks: none that others wait for.';
--! EndIncluded trading/functions/rehearse.sql
--! Included analytics/views/users.sql
create or replace view analytics.users as
select
  u.id as user_key,
  u.public_id as user_id,
  u.handle,
  case when not u.private then u.display_name end as display_name,
  u.private as is_private,
  u.leaderboard_opt_out,
  u.created_at,
  r.balance_cents,
  r.external_cents as net_deposits_cents,
  r.overdraft_cents::bigint as overdraft_cents,
  r.limits_reviewed_at,
  case
    when analytics.now() >= r.day_limit_changes_at then r.next_day_limit_cents
    else r.day_limit_cents
  end as day_limit_cents,
  case
    when analytics.now() >= r.week_limit_changes_at then r.next_week_limit_cents
    else r.week_limit_cents
  end as week_limit_cents,
  case
    when analytics.now() >= r.month_limit_changes_at then r.next_month_limit_cents
    else r.month_limit_cents
  end as month_limit_cents,
  coalesce(
    (
      select (r.external_cents - r.balance_cents) - (o.external_cents - o.balance_cents)
      from ledger.day_openings as o
      where o.user_id = r.user_id
        and o.day >= (analytics.now() at time zone 'UTC')::date
      order by o.day
      limit 1
    ),
    0
  ) as day_net_spent_cents,
  coalesce(
    (
      select (r.external_cents - r.balance_cents) - (o.external_cents - o.balance_cents)
      from ledger.day_openings as o
      where o.user_id = r.user_id
        and o.day >= (analytics.now() at time zone 'UTC')::date - 6
      order by o.day
      limit 1
    ),
    0
  ) as week_net_spent_cents,
  coalesce(
    (
      select (r.external_cents - r.balance_cents) - (o.external_cents - o.balance_cents)
      from ledger.day_openings as o
      where o.user_id = r.user_id
        and o.day >= (analytics.now() at time zone 'UTC')::date - 29
      order by o.day
      limit 1
    ),
    0
  ) as month_net_spent_cents,
  coalesce(
    (
      select sum(o.worst_cost_cents)
      from analytics.open_orders as o
      where o.user_key = u.id
    ),
    0
  )::bigint as active_order_cost_cents
from identity.users as u
left join trading.traders as r on r.user_id = u.id;

comment on view analytics.users is
  'Traders, with their cash and their loss limits, but without their e-mail, their keys and their '
  'self-exclusion, which are for operators: admin.users.';
comment on column analytics.users.user_key is 'Internal key, for joins.';
comment on column analytics.users.user_id is 'Public id.';
comment on column analytics.users.handle is
  'Unique short name. That of a private user is not published.';
comment on column analytics.users.display_name is
  'Name for display; null for a private user.';
comment on column analytics.users.is_private is
  'Whether the profile is private: its name is not published.';
comment on column analytics.users.leaderboard_opt_out is 'Whether the user is in no leaderboard.';
comment on column analytics.users.created_at is 'When the account was made.';
comment on column analytics.users.balance_cents is 'Cash.';
comment on column analytics.users.net_deposits_cents is
  'Deposits less withdrawals. Less the cash, it is the net cash put into trading.';
comment on column analytics.users.overdraft_cents is
  'How far corrections of resolutions took the cash below zero.';
comment on column analytics.users.limits_reviewed_at is
  'When the loss limits were first reviewed; null: may not trade yet.';
comment on column analytics.users.day_limit_cents is
  'Loss limit in force for today (UTC); null is none.';
comment on column analytics.users.week_limit_cents is
  'Loss limit in force for the last 7 UTC days; null is none.';
comment on column analytics.users.month_limit_cents is
  'Loss limit in force for the last 30 UTC days; null is none.';
comment on column analytics.users.day_net_spent_cents is
  'Net cash put into trading today (UTC): buys, fees and splits less sells, merges and '
  'settlements, so negative when more came out. What counts toward the day''s limit is this, at '
  'least 0, and active_order_cost_cents.';
comment on column analytics.users.week_net_spent_cents is
  'Likewise over the last 7 UTC days, today included.';
comment on column analytics.users.month_net_spent_cents is
  'Likewise over the last 30 UTC days, today included.';
comment on column analytics.users.active_order_cost_cents is
  'The most that the user''s open orders could still cost: the sum of their worst_cost_cents in '
  'analytics.open_orders.';
--! EndIncluded analytics/views/users.sql
--! Included admin/views/users.sql
create or replace view admin.users as
select
  x.user_key,
  x.user_id,
  u.email,
  x.handle,
  u.display_name,
  x.is_private,
  x.leaderboard_opt_out,
  x.created_at,
  x.balance_cents,
  x.net_deposits_cents,
  x.overdraft_cents,
  x.limits_reviewed_at,
  r.excluded_until,
  x.day_limit_cents,
  x.week_limit_cents,
  x.month_limit_cents,
  case when r.day_limit_changes_at > analytics.now() then r.next_day_limit_cents end
    as next_day_limit_cents,
  case when r.day_limit_changes_at > analytics.now() then r.day_limit_changes_at end
    as day_limit_changes_at,
  case when r.week_limit_changes_at > analytics.now() then r.next_week_limit_cents end
    as next_week_limit_cents,
  case when r.week_limit_changes_at > analytics.now() then r.week_limit_changes_at end
    as week_limit_changes_at,
  case when r.month_limit_changes_at > analytics.now() then r.next_month_limit_cents end
    as next_month_limit_cents,
  case when r.month_limit_changes_at > analytics.now() then r.month_limit_changes_at end
    as month_limit_changes_at,
  x.day_net_spent_cents,
  x.week_net_spent_cents,
  x.month_net_spent_cents,
  x.active_order_cost_cents,
  r.frozen_at,
  r.frozen_by,
  r.frozen_reason,
  coalesce(p.tier, s.tier)::text as rate_tier,
  coalesce(p.requests_per_minute, s.requests_per_minute)::int as requests_per_minute,
  coalesce(p.burst_capacity, s.burst_capacity)::int as burst_capacity,
  p.expires_at as rate_policy_expires_at
from analytics.users as x
join identity.users as u on u.id = x.user_key
left join trading.traders as r on r.user_id = x.user_key
left join rate_limits.rate_policies as p
  on p.user_id = x.user_key
  and (p.expires_at is null or p.expires_at > analytics.now())
cross join rate_limits.standard_policy() as s;

comment on view admin.users is
  'Traders, with e-mail, cash, loss limits, rate policy, and whether they are frozen.';
comment on column admin.users.user_key is 'Internal key, for joins.';
comment on column admin.users.user_id is 'Public id.';
comment on column admin.users.email is 'E-mail; unique whatever its case.';
comment on column admin.users.handle is 'Unique short name.';
comment on column admin.users.display_name is 'Name for display.';
comment on column admin.users.is_private is
  'Whether the profile is private: its name is not published.';
comment on column admin.users.leaderboard_opt_out is 'Whether the user is in no leaderboard.';
comment on column admin.users.created_at is 'When the account was made.';
comment on column admin.users.balance_cents is 'Cash.';
comment on column admin.users.net_deposits_cents is
  'Deposits less withdrawals. Less the cash, it is the net cash put into trading.';
comment on column admin.users.overdraft_cents is
  'How far corrections of resolutions took the cash below zero.';
comment on column admin.users.limits_reviewed_at is
  'When the loss limits were first reviewed; null: may not trade yet.';
comment on column admin.users.excluded_until is
  'Self-excluded until then; infinity is for good, null is never.';
comment on column admin.users.day_limit_cents is
  'Loss limit in force for today (UTC); null is none.';
comment on column admin.users.week_limit_cents is
  'Loss limit in force for the last 7 UTC days; null is none.';
comment on column admin.users.month_limit_cents is
  'Loss limit in force for the last 30 UTC days; null is none.';
comment on column admin.users.next_day_limit_cents is
  'The day''s limit from day_limit_changes_at on: a raise waits 24 hours. Null is none, if '
  'day_limit_changes_at is set.';
comment on column admin.users.day_limit_changes_at is
  'When next_day_limit_cents comes into force; null: no change is waiting.';
comment on column admin.users.next_week_limit_cents is
  'Likewise the limit for the last 7 UTC days.';
comment on column admin.users.week_limit_changes_at is
  'When next_week_limit_cents comes into force; null: no change is waiting.';
comment on column admin.users.next_month_limit_cents is
  'Likewise the limit for the last 30 UTC days.';
comment on column admin.users.month_limit_changes_at is
  'When next_month_limit_cents comes into force; null: no change is waiting.';
comment on column admin.users.day_net_spent_cents is
  'Net cash put into trading today (UTC): buys, fees and splits less sells, merges and '
  'settlements, so negative when more came out. What counts toward the day''s limit is this, at '
  'least 0, and active_order_cost_cents.';
comment on column admin.users.week_net_spent_cents is
  'Likewise over the last 7 UTC days, today included.';
comment on column admin.users.month_net_spent_cents is
  'Likewise over the last 30 UTC days, today included.';
comment on column admin.users.active_order_cost_cents is
  'The most that the user''s open orders could still cost.';
comment on column admin.users.frozen_at is
  'Since when an operator has frozen the account; null: it is not frozen.';
comment on column admin.users.frozen_by is
  'The login that froze it, and in brackets the name of the staff key that it gave.';
comment on column admin.users.frozen_reason is 'Why it is frozen.';
comment on column admin.users.rate_tier is
  'The rate policy in force: standard, elevated or custom. One that has expired is standard again.';
comment on column admin.users.requests_per_minute is
  'Trading requests a minute that it grants.';
comment on column admin.users.burst_capacity is
  'Trading requests back to back that it grants.';
comment on column admin.users.rate_policy_expires_at is
  'When the standard policy holds again; null is never, or it is the standard one.';
--! EndIncluded admin/views/users.sql
--! Included admin/views/sign_up.sql
create or replace view admin.sign_up as
select
  s.sign_up_policy as policy,
  s.play_money_cents::bigint as play_money_cents,
  s.changed_at
from identity.settings as s;

comment on view admin.sign_up is
  'Who may sign up on the website, as admin.set_sign_up sets it: one row.';
comment on column admin.sign_up.policy is
  'open: every visitor; invitation: with a link of admin.invite_user; closed: no visitor.';
comment on column admin.sign_up.play_money_cents is 'What a new account gets; 0 is nothing.';
comment on column admin.sign_up.changed_at is
  'When admin.set_sign_up was last called; null: never.';
--! EndIncluded admin/views/sign_up.sql
--! Included admin/views/unconfirmed_emails.sql
create or replace view admin.unconfirmed_emails as
select
  c.user_id as user_key,
  u.public_id as user_id,
  c.email,
  c.handle,
  c.handle is not null as is_sign_up,
  c.created_at
from identity.email_claims as c
join identity.users as u on u.id = c.user_id;

comment on view admin.unconfirmed_emails is
  'E-mail addresses that users gave and have not confirmed: of new accounts, and of users who '
  'change their address.';
comment on column admin.unconfirmed_emails.user_key is 'The user: internal key, for joins.';
comment on column admin.unconfirmed_emails.user_id is 'The user: public id.';
comment on column admin.unconfirmed_emails.email is
  'The address. Several users may have given it: only one of them can confirm it.';
comment on column admin.unconfirmed_emails.handle is
  'The handle that a new account gets with the confirmation; null for a change of address.';
comment on column admin.unconfirmed_emails.is_sign_up is
  'Whether the account is new. It ends 30 days after created_at unless the address is confirmed.';
comment on column admin.unconfirmed_emails.created_at is 'When the user gave it.';
--! EndIncluded admin/views/unconfirmed_emails.sql
--! Included admin/views/mails.sql
create or replace view admin.mails as
select
  m.id as mail_key,
  m.kind,
  m.user_id as user_key,
  u.public_id as user_id,
  m.address,
  case
    when m.sent_at is not null then 'sent'
    when m.due_at is not null then 'waiting'
    else 'given_up'
  end as status,
  m.created_at,
  m.due_at,
  m.attempts,
  m.sent_at,
  m.last_error
from identity.mails as m
left join identity.users as u on u.id = m.user_id;

comment on view admin.mails is 'Mails of the last 30 days: sent, waiting, or given up.';
comment on column admin.mails.mail_key is 'Internal key, in the order of creation.';
comment on column admin.mails.kind is
  'Which mail: confirm_email, password_reset and invitation have a link; the others are notices.';
comment on column admin.mails.user_key is
  'The user whom it is about: internal key, for joins; null if it names no account.';
comment on column admin.mails.user_id is 'The user: public id.';
comment on column admin.mails.address is 'Where it goes.';
comment on column admin.mails.status is
  'sent; waiting: to be sent at due_at; given_up: not sent in ten attempts.';
comment on column admin.mails.created_at is 'When it was written.';
comment on column admin.mails.due_at is
  'When it is sent, or tried again; null once it is sent or given up.';
comment on column admin.mails.attempts is 'How often it was tried.';
comment on column admin.mails.sent_at is 'When the mail server accepted it; null: not yet.';
comment on column admin.mails.last_error is
  'Why the last attempt failed, as the mail server says it; null if none did.';
--! EndIncluded admin/views/mails.sql
--! Included grants.sql
-- The rights of the roles. A function that is not granted here can be called by its owner only.
grant usage on schema api to exchange_api;
grant execute on all functions in schema api to exchange_api;

grant usage on schema jobs to exchange_worker;
grant execute on all functions in schema jobs to exchange_worker;

grant usage on schema admin to exchange_operator;
grant execute on all functions in schema admin to exchange_operator;
revoke execute on function admin.audit(text, jsonb) from exchange_operator;
grant select on
  admin.categories, admin.events, admin.markets, admin.users, admin.api_keys, admin.staff_keys,
  admin.orders, admin.order_reductions, admin.trades, admin.positions, admin.set_conversions,
  admin.journal_entries, admin.cash_movements, admin.resolutions, admin.settlements,
  admin.fee_schedules, admin.rate_limits, admin.stream_caps, admin.trading_pause,
  admin.sign_up, admin.unconfirmed_emails, admin.mails, admin.verifications, admin.audit_entries
to exchange_operator;

grant usage on schema ledger to exchange_operator;
grant execute on function ledger.verify() to exchange_operator;
grant usage on schema leaderboard to exchange_operator;
grant execute on function leaderboard.verify() to exchange_operator;

grant usage on schema analytics to exchange_analyst;
grant select on all tables in schema analytics to exchange_analyst;
grant execute on all functions in schema analytics to exchange_analyst;
-- The views of schema admin call these; operators have no right to their schemas.
grant execute on function analytics.now(), rate_limits.standard_policy() to exchange_operator;
--! EndIncluded grants.sql
--! Included grants.sql
-- The rights of the roles. A function that is not granted here can be called by its owner only.
grant usage on schema api to exchange_api;
grant execute on all functions in schema api to exchange_api;

grant usage on schema jobs to exchange_worker;
grant execute on all functions in schema jobs to exchange_worker;

grant usage on schema admin to exchange_operator;
grant execute on all functions in schema admin to exchange_operator;
revoke execute on function admin.audit(text, jsonb) from exchange_operator;
grant select on
  admin.categories, admin.events, admin.markets, admin.users, admin.api_keys, admin.staff_keys,
  admin.orders, admin.order_reductions, admin.trades, admin.positions, admin.set_conversions,
  admin.journal_entries, admin.cash_movements, admin.resolutions, admin.settlements,
  admin.fee_schedules, admin.rate_limits, admin.stream_caps, admin.trading_pause,
  admin.sign_up, admin.unconfirmed_emails, admin.mails, admin.verifications, admin.audit_entries
to exchange_operator;

grant usage on schema ledger to exchange_operator;
grant execute on function ledger.verify() to exchange_operator;
grant usage on schema leaderboard to exchange_operator;
grant execute on function leaderboard.verify() to exchange_operator;

grant usage on schema analytics to exchange_analyst;
grant select on all tables in schema analytics to exchange_analyst;
grant execute on all functions in schema analytics to exchange_analyst;
-- The views of schema admin call these; operators have no right to their schemas.
grant execute on function analytics.now(), rate_limits.standard_policy() to exchange_operator;
--! EndIncluded grants.sql
reset role;
