import type { Pool } from "pg";
import type { Logger } from "pino";
import { createAuthenticator } from "./http/authentication.ts";
import type { Authenticator } from "./http/authentication.ts";
import { createAnnouncer } from "./trading/announcer.ts";
import type { Announcer } from "./trading/announcer.ts";
import { createOrderBatcher } from "./trading/order_batcher.ts";
import type { OrderBatcher } from "./trading/order_batcher.ts";

/** What the routes share in one process. */
export interface Services {
  /** Acts as exchange_api. */
  pool: Pool;
  logger: Logger;
  authenticator: Authenticator;
  announcer: Announcer;
  orderBatcher: OrderBatcher;
}

export function makeServices(pool: Pool, logger: Logger): Services {
  const announcer = createAnnouncer({ pool, logger });
  return {
    pool,
    logger,
    authenticator: createAuthenticator({ pool, logger }),
    announcer,
    orderBatcher: createOrderBatcher({ pool, onCommitted: announcer.ring }),
  };
}
