create schema core authorization exchange_owner;
comment on schema core is
  'What all other schemas use: the clock, identifiers, settings, error codes. Private.';
