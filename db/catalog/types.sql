create type catalog.market_status as enum ('open', 'paused', 'closed', 'resolved');
comment on type catalog.market_status is
  'open <-> paused; either -> closed; closed -> open (reopened) or resolved.';

create type catalog.outcome as enum ('yes', 'no', 'custom');
comment on type catalog.outcome is 'How a market was resolved; custom pays both sides a part.';
