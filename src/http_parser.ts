import type { Socket } from "node:net";

/**
 * Node parses all that it has read, up to 64 KiB, also of a socket that is destroyed. These spare the
 * work on the rest. They use what is no public interface of Node: if that goes, the rest is dropped
 * all the same, and costs what it costs to parse.
 */

interface Parser {
  onIncoming?: () => number;
  constructor: { kOnBody?: number };
  [callback: number]: unknown;
}

const parserOf = (socket: Socket): Parser | null | undefined =>
  (socket as { parser?: Parser | null }).parser;

/** As for an upgrade, which 2 stands for: the parser stops behind the next request. */
export function stopParsing(socket: Socket): void {
  const parser = parserOf(socket);
  if (parser) parser.onIncoming = () => 2;
}

/** No buffers are made of what the body still has. Node uses a parser again for other connections. */
export function skipBody(socket: Socket): void {
  const parser = parserOf(socket);
  const name = parser?.constructor.kOnBody;
  if (!parser || name === undefined) return;
  const onBody = parser[name];
  parser[name] = null;
  // Nothing else is parsed before.
  setImmediate(() => {
    parser[name] = onBody;
  });
}
