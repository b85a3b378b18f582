import type { Response } from "express";

/** For how many seconds a shared cache may answer, and for how many more while it asks again. */
export interface Caching {
  freshSeconds: number;
  staleSeconds: number;
}

/** Lets shared caches keep a successful answer. */
export function allowCaching(response: Response, { freshSeconds, staleSeconds }: Caching): void {
  response.setHeader(
    "Cache-Control",
    `public, s-maxage=${freshSeconds}, stale-while-revalidate=${staleSeconds}`,
  );
}
