create schema risk authorization exchange_owner;
comment on schema risk is
  'Responsible gaming: loss limits and self-exclusion of each trader. Private.';
