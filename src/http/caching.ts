import { createHash } from "node:crypto";
import type { Request, Response } from "express";

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

/** Names a body: the same one has the same name, in every process. */
export function etagOf(body: string | Buffer): string {
  return `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
}

/** Whether the client has the body of this name already (RFC 9110). */
export function isKnown(request: Pick<Request, "get">, etag: string): boolean {
  const known = request.get("If-None-Match");
  if (known === undefined) return false;
  return known.trim() === "*" || known.split(",").some((name) => opaque(name) === opaque(etag));
}

/** A proxy that compresses an answer makes its name a weak one. */
const opaque = (name: string): string => name.trim().replace(/^W\//, "");
