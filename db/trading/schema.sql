create schema trading authorization exchange_owner;
comment on schema trading is
  'The engine: orders, the book, trades, positions, fee schedules and what moves them. Private.';
