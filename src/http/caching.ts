import type { Response } from "express";

/** How long a shared cache may answer, and how much longer while it asks again. */
export interface Caching {
  freshSeconds: number;
  staleSeconds: number;
}

/** Allows shared caches to keep the answer. */
export function allowCaching(response: Response, { freshSeconds, staleSeconds }: Caching): void {
  response.setHeader(
    "Cache-Control",
    `public, s-maxage=${freshSeconds}, stale-while-revalidate=${staleSeconds}`,
  );
}
