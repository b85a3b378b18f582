import type { Request, Response } from "express";

/** A file that does not change, in memory, in each encoding that there is of it. */
export interface StaticFile {
  contentType: string;
  encodings: Partial<Record<Encoding, Buffer>> & { identity: Buffer };
}

export type Encoding = "br" | "gzip" | "identity";

/** The smallest first: browsers like all that they name equally well. */
const preferred: Encoding[] = ["br", "gzip"];

/** Whether a request only reads. */
export function isRead({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

/** Answers with a file, in the best encoding that the client takes. All answers share its bytes. */
export function sendFile(request: Request, response: Response, file: StaticFile): void {
  const { contentType, encodings } = file;
  const encoding = preferred.find((name) => name in encodings && accepts(request, name));
  const body = (encoding && encodings[encoding]) ?? encodings.identity;
  response.setHeader("Content-Type", contentType);
  response.setHeader("Vary", "Accept-Encoding");
  response.setHeader("Content-Length", body.length);
  if (encoding !== undefined) response.setHeader("Content-Encoding", encoding);
  response.end(request.method === "HEAD" ? undefined : body);
}

function accepts(request: Request, encoding: Encoding): boolean {
  return request.acceptsEncodings(encoding) !== false;
}
