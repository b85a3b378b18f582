create type api.result as (
  code text,
  message text,
  replayed boolean,
  body text
);
comment on type api.result is
  'What a command came to: the code and message of a refusal, or the body of the answer as '
  'JSON text. replayed marks the answer to a request that was carried out before.';
