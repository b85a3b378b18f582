create schema api authorization exchange_owner;
comment on schema api is
  'The functions behind the HTTP interface, and nothing else. For role exchange_api.';
