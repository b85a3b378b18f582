/** Strings of blocks, strings, and comments: what is in them is text. An open one ends the match. */
const TEXT = /"""(?:\\"""|[^])*?(?:"""|$)|"(?:\\.|[^"\\\n\r])*"?|#[^\n\r]*|[[\]{}()]/g;

/**
 * How deep brackets, braces and parentheses are within each other in a text of GraphQL, at most. A
 * parser calls itself for each of them, so this is looked at before the text is parsed. Closing ones
 * that close nothing don't count.
 */
export function bracketDepthOf(query: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [found] of query.matchAll(TEXT)) {
    if (found === "[" || found === "{" || found === "(") deepest = Math.max(deepest, ++depth);
    else if (found === "]" || found === "}" || found === ")") depth = Math.max(0, depth - 1);
  }
  return deepest;
}
