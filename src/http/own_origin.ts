import type { Request } from "express";
import { ProblemError, rejection } from "./problems.ts";

/** Where the website is, as its pages and its mails name it. */
export interface Site {
  /** The origin of the site's pages, in lower case. */
  originFor: (request: Request) => string;
  /** Whether browsers come by https. */
  isSecure: (request: Request) => boolean;
  /** Ends a request that does not come from the site's own pages: 403. */
  checkOrigin: (request: Request) => void;
}

/** The site at this address, or, without one, wherever a request says it is. */
export function makeSite(publicUrl?: string): Site {
  const configured = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  const originFor = (request: Request): string =>
    (configured ?? `${request.protocol}://${request.host}`).toLowerCase();
  return {
    originFor,
    isSecure: (request) => originFor(request).startsWith("https:"),
    checkOrigin: (request) => {
      // Browsers send it with every request that can change something.
      if (request.headers.origin?.toLowerCase() !== originFor(request)) {
        throw new ProblemError(rejection("WRONG_ORIGIN"));
      }
    },
  };
}
