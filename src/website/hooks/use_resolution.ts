import { publicApi } from "../api/client.ts";
import { resultOf } from "../api/result.ts";
import type { Market, MarketResolution } from "../api/types.ts";
import { useAsked } from "./use_asked.ts";

/**
 * How a market was resolved, and what its shares paid; undefined until that is known. It is read
 * anew whenever the market was: a correction may leave the status and even the outcome as they are.
 */
export function useResolution(read: Market): MarketResolution | undefined {
  const { id, status } = read;
  const resolution = useAsked<MarketResolution | undefined>(async () => {
    if (status !== "resolved") return { ok: true, data: undefined };
    const params = { path: { id } };
    return await resultOf(publicApi.GET("/api/v1/markets/{id}/resolution", { params }));
  }, [read]);
  return resolution.data;
}
