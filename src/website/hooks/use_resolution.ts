import { publicApi } from "../api/client.ts";
import { ownVersion } from "../api/own_changes.ts";
import { resultOf } from "../api/result.ts";
import type { Market, MarketResolution } from "../api/types.ts";
import { useAsked } from "./use_asked.ts";

/** How a market was resolved, and what its shares paid; undefined until that is known. */
export function useResolution({ id, status }: Market): MarketResolution | undefined {
  const isResolved = status === "resolved";
  const resolution = useAsked<MarketResolution | undefined>(async () => {
    if (!isResolved) return { ok: true, data: undefined };
    const params = { path: { id } };
    return await resultOf(publicApi.GET("/api/v1/markets/{id}/resolution", { params }));
    // A correction changes cash as well, so it is read anew with that.
  }, [id, isResolved, ownVersion.value]);
  return resolution.data;
}
