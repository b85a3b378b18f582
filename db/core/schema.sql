create schema core authorization exchange_owner;
comment on schema core is
  'What every other schema leans on: the clock, identifiers, settings, error codes. Private.';
