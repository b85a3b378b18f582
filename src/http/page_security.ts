import type { IncomingMessage, ServerResponse } from "node:http";
import helmet from "helmet";

type Source = string | ((request: IncomingMessage, response: ServerResponse) => string);

/** What a page takes besides scripts, styles, images and data of this server. */
export interface PageSources {
  scripts?: Source[];
  styles?: Source[];
  images?: Source[];
  fonts?: Source[];
  workers?: Source[];
}

const SELF = "'self'";
const NONE = ["'none'"];

/** Sets the security headers of a page. It loads nothing from other servers, and no site frames it. */
export function securePage(more: PageSources = {}): ReturnType<typeof helmet> {
  const { scripts = [], styles = [], images = [], fonts, workers } = more;
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: NONE,
        scriptSrc: [SELF, ...scripts],
        styleSrc: [SELF, ...styles],
        imgSrc: [SELF, ...images],
        ...(fonts && { fontSrc: [SELF, ...fonts] }),
        connectSrc: [SELF],
        ...(workers && { workerSrc: [SELF, ...workers] }),
        baseUri: NONE,
        formAction: NONE,
        frameAncestors: NONE,
      },
    },
    // The server speaks plain HTTP. A proxy with TLS sets this header.
    strictTransportSecurity: false,
  });
}
