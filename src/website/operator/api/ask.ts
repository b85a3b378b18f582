import type { Result } from "../../api/result.ts";

/** Asks a query of the operators' GraphQL. */
export type Ask = <Data>(
  query: string,
  variables?: Record<string, unknown>,
) => Promise<Result<Data>>;
