create table core.error_codes (
  code text primary key,
  sqlstate text not null,
  http_status int not null,
  code_shown boolean not null,
  message text not null,
  constraint error_codes_sqlstate_is_unique unique (sqlstate),
  constraint error_codes_sqlstate_is_of_class_ex check (sqlstate ~ '^EX[0-9]{3}$'),
  constraint error_codes_http_status_is_an_error check (http_status between 400 and 599)
);

comment on table core.error_codes is
  'Every error code of the exchange. The engine returns codes as values; functions of schema admin '
  'raise errors with the SQLSTATE. src/database/error_codes.ts and docs/errors.md have the same '
  'list.';
comment on column core.error_codes.code_shown is
  'Whether the HTTP body carries the code beside the message.';

insert into core.error_codes (sqlstate, code, http_status, code_shown, message) values
  ('EX001', 'INVALID_REQUEST', 400, true, 'Invalid request'),
  ('EX002', 'UNAUTHORIZED', 401, false, 'Unauthorized'),
  ('EX003', 'TRADING_PAUSED', 503, true, 'Trading is paused'),
  ('EX004', 'SELF_EXCLUDED', 403, true, 'Account is self-excluded from trading'),
  ('EX005', 'LIMITS_SETUP_REQUIRED', 428, true, 'Loss limits must be reviewed before trading'),
  ('EX006', 'MARKET_NOT_FOUND', 400, false, 'Market not found'),
  ('EX007', 'MARKET_NOT_OPEN', 400, false, 'Market is not open for trading'),
  ('EX008', 'SELF_TRADE_BLOCKED', 400, true, 'Order would match your own resting order'),
  ('EX009', 'POST_ONLY_WOULD_CROSS', 400, true, 'Post-only order would trade immediately'),
  ('EX010', 'INSUFFICIENT_LIQUIDITY', 400, true, 'No matching liquidity'),
  ('EX011', 'INSUFFICIENT_BALANCE', 400, true, 'Not enough balance or position'),
  ('EX012', 'LOSS_LIMIT', 422, true, 'Order would exceed the loss limit'),
  ('EX013', 'ORDER_NOT_FOUND', 404, false, 'Order not found'),
  ('EX014', 'ORDER_NOT_CANCELLABLE', 400, false, 'Cannot cancel order with status: <status>'),
  ('EX015', 'CONFLICT_RETRY', 503, true, 'Temporary conflict, safe to retry'),
  ('EX016', 'OUTCOME_UNKNOWN', 503, true,
    'The outcome is unknown; retry with the same idempotency key'),
  ('EX017', 'NOT_FOUND', 404, false, 'Not found'),
  ('EX018', 'ALREADY_EXISTS', 409, true, 'Already exists'),
  ('EX019', 'INVALID_STATE', 409, true, 'Not possible in the present state'),
  ('EX020', 'BELOW_FILLED', 400, true, 'New quantity must exceed the filled quantity'),
  ('EX021', 'ORDER_NOT_AMENDABLE', 400, false, 'Cannot amend order with status: <status>'),
  ('EX022', 'BUDGET_ORDER_NOT_AMENDABLE', 400, false,
    'Cannot amend a budget order; cancel it and place a new one'),
  ('EX023', 'TOO_MANY_REQUESTS', 429, false, 'Too many requests'),
  ('EX024', 'ACCOUNT_FROZEN', 403, true, 'Account is frozen'),
  ('EX025', 'UNFIT_SESSION', 503, false, 'A setting of the database session is not fit'),
  ('EX026', 'BATCH_REJECTED', 409, true,
    'An order of the batch was rejected, and none was placed'),
  ('EX027', 'WRONG_ORIGIN', 403, true, 'The request comes from another site'),
  ('EX028', 'SIGN_UP_CLOSED', 403, true, 'Sign-up needs an invitation'),
  ('EX029', 'INVALID_LINK', 400, true, 'The link is not valid any more'),
  ('EX030', 'WRONG_CREDENTIALS', 401, false, 'Wrong e-mail or password'),
  ('EX031', 'WRONG_PASSWORD', 403, true, 'Wrong password'),
  ('EX032', 'EMAIL_UNCONFIRMED', 403, true, 'Confirm your e-mail address first'),
  ('EX033', 'INVALID_PASSKEY', 403, true, 'The passkey was not accepted'),
  ('EX034', 'SIGN_IN_AGAIN', 403, true, 'Sign in again first'),
  ('EX035', 'IDEMPOTENCY_KEY_REUSED', 422, true,
    'The idempotency key was used by another request'),
  ('EX036', 'DEAD_MAN_FIRED', 409, true,
    'The dead man''s switch has fired; orders are being cancelled'),
  ('EX037', 'BODY_TOO_LARGE', 413, false, 'The body is larger than 64 KiB'),
  ('EX038', 'INTERNAL_ERROR', 500, false, 'Internal server error'),
  ('EX039', 'SERVICE_UNAVAILABLE', 503, false, 'Service unavailable'),
  ('EX040', 'EVENTS_GONE', 409, true, 'The events after this id are not kept any more'),
  ('EX041', 'KEY_SCOPE', 403, true, 'The API key does not have the scope for this');
