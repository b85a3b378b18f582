import { isUtf8 } from "node:buffer";
import express from "express";
import type { Request, RequestHandler, Response } from "express";

const BODY_BYTES = 64 * 1024;
const LONG_BODY_BYTES = 1024 * 1024;
/** More than any request needs. To parse 20,000 takes as long as many orders, before they are counted. */
const MOST_VALUES = 4000;

/** The `type` of the error of a body that has more. */
export const TOO_MANY_VALUES = "entity.too.many.values";

const parserOf = (limit: number, mostValues: number): RequestHandler =>
  express.json({
    limit,
    type: () => true,
    inflate: false,
    verify: (_request, _response, body, encoding) => {
      if (encoding !== "utf-8" || !isUtf8(body)) throw new Error("The body is not in UTF-8");
      if (mostValues < body.length && hasMoreValues(body, mostValues)) throw tooManyValues();
    },
  });

const parseJson = parserOf(BODY_BYTES, MOST_VALUES);
const parseLongJson = parserOf(LONG_BODY_BYTES, Infinity);

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = Buffer.from('"\\,[{');

/**
 * Whether JSON has more values than so many: one begins with the body, the others with a bracket, a
 * brace or a comma. An empty list or object counts as two.
 */
function hasMoreValues(json: Buffer, most: number): boolean {
  let count = 1;
  let isText = false;
  for (let place = 0; place < json.length && count <= most; place++) {
    const byte = json[place];
    if (byte === QUOTE) isText = !isText;
    else if (isText) place += Number(byte === BACKSLASH);
    else if (byte === COMMA || byte === BRACKET || byte === BRACE) count++;
  }
  return count > most;
}

/**
 * Reads the body as JSON, whatever its content type, up to 64 KiB and 4,000 values, or to 1 MiB if it
 * may be long.
 * Compressed bodies are rejected: a small one may decompress to a large one. Returns what is wrong
 * with the body, if anything is.
 */
export function readJson(
  request: Request,
  response: Response,
  { mayBeLong = false } = {},
): Promise<Error | undefined> {
  const limit = mayBeLong ? LONG_BODY_BYTES : BODY_BYTES;
  return new Promise((resolve) => {
    const refuseAbove = (bytes: number): void => {
      if (bytes > limit) resolve(tooLarge());
    };
    void (mayBeLong ? parseLongJson : parseJson)(request, response, (fault?: unknown) => {
      // To the parser, the request of a client that is gone has no body, or one that was read before.
      const isMissing = fault === undefined && request.body === undefined && hasBody(request);
      resolve(isMissing ? aborted() : (fault as Error | undefined));
    });
    // The parser says so too, but only once it has read such a body to its end.
    const announced = request.headers["content-length"];
    if (announced !== undefined) {
      refuseAbove(Number(announced));
      return;
    }
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      refuseAbove((bytes += chunk.length));
    });
  });
}

const hasBody = ({ headers }: Request): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

const aborted = (): Error =>
  Object.assign(new Error("The client is gone"), { status: 400, type: "request.aborted" });

const tooManyValues = (): Error =>
  Object.assign(new Error("The body has too many values"), { type: TOO_MANY_VALUES });

const tooLarge = (): Error =>
  Object.assign(new Error("The body is too large"), { status: 413, type: "entity.too.large" });
