create schema admin authorization exchange_owner;
comment on schema admin is
  'The operator''s functions, each audited. For role exchange_operator.';
