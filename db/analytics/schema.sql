create schema analytics authorization exchange_owner;
comment on schema analytics is
  'Stable views and functions for analysts: reading only, with every column described. For role '
  'exchange_analyst.';
