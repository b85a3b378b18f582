/** A code by which the exchange rejects a request, as SQL, HTTP and the body of the answer have it. */
export interface ErrorCode {
  sqlstate: string;
  status: number;
  /** The text of the body's "error", unless the database gives another one. */
  message: string;
  /** Whether the body has the code beside the message. */
  codeShown: boolean;
}

/** Every code of the exchange: the same list as core.error_codes and docs/errors.md. */
export const errorCodes = {
  INVALID_REQUEST: code("EX001", 400, "Invalid request"),
  UNAUTHORIZED: hiddenCode("EX002", 401, "Unauthorized"),
  TRADING_PAUSED: code("EX003", 503, "Trading is paused"),
  SELF_EXCLUDED: code("EX004", 403, "Account is self-excluded from trading"),
  LIMITS_SETUP_REQUIRED: code("EX005", 428, "Loss limits must be reviewed before trading"),
  MARKET_NOT_FOUND: hiddenCode("EX006", 400, "Market not found"),
  MARKET_NOT_OPEN: hiddenCode("EX007", 400, "Market is not open for trading"),
  SELF_TRADE_BLOCKED: code("EX008", 400, "Order would match your own resting order"),
  POST_ONLY_WOULD_CROSS: code("EX009", 400, "Post-only order would trade immediately"),
  INSUFFICIENT_LIQUIDITY: code("EX010", 400, "No matching liquidity"),
  INSUFFICIENT_BALANCE: code("EX011", 400, "Not enough balance or position"),
  LOSS_LIMIT: code("EX012", 422, "Order would exceed the loss limit"),
  ORDER_NOT_FOUND: hiddenCode("EX013", 404, "Order not found"),
  ORDER_NOT_CANCELLABLE: hiddenCode("EX014", 400, "Cannot cancel order with status: <status>"),
  CONFLICT_RETRY: code("EX015", 503, "Temporary conflict, safe to retry"),
  OUTCOME_UNKNOWN: code(
    "EX016",
    503,
    "The outcome is unknown; retry with the same idempotency key",
  ),
  NOT_FOUND: hiddenCode("EX017", 404, "Not found"),
  ALREADY_EXISTS: code("EX018", 409, "Already exists"),
  INVALID_STATE: code("EX019", 409, "Not possible in the present state"),
  BELOW_FILLED: code("EX020", 400, "New quantity must exceed the filled quantity"),
  ORDER_NOT_AMENDABLE: hiddenCode("EX021", 400, "Cannot amend order with status: <status>"),
  BUDGET_ORDER_NOT_AMENDABLE: hiddenCode(
    "EX022",
    400,
    "Cannot amend a budget order; cancel it and place a new one",
  ),
  TOO_MANY_REQUESTS: hiddenCode("EX023", 429, "Too many requests"),
  ACCOUNT_FROZEN: code("EX024", 403, "Account is frozen"),
  UNFIT_SESSION: hiddenCode("EX025", 503, "A setting of the database session is not fit"),
  BATCH_REJECTED: code("EX026", 409, "An order of the batch was rejected, and none was placed"),
  WRONG_ORIGIN: code("EX027", 403, "The request comes from another site"),
  SIGN_UP_CLOSED: code("EX028", 403, "Sign-up needs an invitation"),
  INVALID_LINK: code("EX029", 400, "The link is not valid any more"),
  WRONG_CREDENTIALS: hiddenCode("EX030", 401, "Wrong e-mail or password"),
  WRONG_PASSWORD: code("EX031", 403, "Wrong password"),
  EMAIL_UNCONFIRMED: code("EX032", 403, "Confirm your e-mail address first"),
  INVALID_PASSKEY: code("EX033", 403, "The passkey was not accepted"),
  SIGN_IN_AGAIN: code("EX034", 403, "Sign in again first"),
  IDEMPOTENCY_KEY_REUSED: code("EX035", 422, "The idempotency key was used by another request"),
  DEAD_MAN_FIRED: code("EX036", 409, "The dead man's switch has fired; orders are being cancelled"),
  BODY_TOO_LARGE: hiddenCode("EX037", 413, "The body is larger than 64 KiB"),
  INTERNAL_ERROR: hiddenCode("EX038", 500, "Internal server error"),
  SERVICE_UNAVAILABLE: hiddenCode("EX039", 503, "Service unavailable"),
  EVENTS_GONE: code("EX040", 409, "The events after this id are not kept any more"),
  KEY_SCOPE: code("EX041", 403, "The API key does not have the scope for this"),
  ROLE_REQUIRED: code("EX042", 403, "The role of staff that this needs is missing"),
  APPROVAL_REQUIRED: code("EX043", 403, "Another member of staff must approve this"),
  OWN_PROPOSAL: code("EX044", 403, "Nobody approves their own proposal"),
  PROPOSAL_CHANGED: code("EX045", 409, "What the proposal rests on has changed: propose it again"),
  NOT_EXCLUSIVE: code("EX046", 400, "The event is not exclusive"),
  NOT_OPEN_TO_DISPUTE: code("EX047", 400, "The market has no resolution to dispute now"),
  NO_SHARES_HELD: code("EX048", 403, "Only users who held shares may dispute it"),
  ALREADY_DISPUTED: code("EX049", 409, "You have disputed this resolution already"),
  AGE_NOT_CONFIRMED: code("EX050", 400, "Confirm that you are old enough"),
} as const satisfies Record<string, ErrorCode>;

/** The codes by name. */
export type ErrorCodeName = keyof typeof errorCodes;

/** The name of the code that SQL raised by this SQLSTATE. Undefined for any other SQLSTATE. */
export function codeOfSqlstate(sqlstate: string | undefined): ErrorCodeName | undefined {
  return sqlstate === undefined ? undefined : namesBySqlstate.get(sqlstate);
}

/** Whether a text is the name of a code. */
export function isErrorCodeName(name: string): name is ErrorCodeName {
  return Object.hasOwn(errorCodes, name);
}

const namesBySqlstate = new Map(
  Object.entries(errorCodes).map(([name, { sqlstate }]) => [sqlstate, name as ErrorCodeName]),
);

function code(sqlstate: string, status: number, message: string): ErrorCode {
  return { sqlstate, status, message, codeShown: true };
}

function hiddenCode(sqlstate: string, status: number, message: string): ErrorCode {
  return { sqlstate, status, message, codeShown: false };
}
