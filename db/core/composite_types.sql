create type core.result as (
  code text,
  message text,
  replayed boolean,
  body text
);
comment on type core.result is
  'The result of a command: the code and message of a rejection, or the body of the response as '
  'JSON text. replayed: the request had been carried out before.';
