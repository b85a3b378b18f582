import { publicApi } from "../api/client.ts";
import { resultOf } from "../api/result.ts";
import { useAsked } from "./use_asked.ts";

const titles = new Map<string, string>();

/** The title of an event, read once; undefined until it is there. */
export function useEventTitle(id: string): string | undefined {
  const title = useAsked(async () => {
    const known = titles.get(id);
    if (known !== undefined) return { ok: true, data: known } as const;
    const params = { path: { id } };
    const result = await resultOf(publicApi.GET("/api/v1/events/{id}", { params }));
    if (!result.ok) return result;
    titles.set(id, result.data.title);
    return { ok: true, data: result.data.title } as const;
  }, [id]);
  return title.data;
}
