/** Block strings, strings, comments, and brackets. A string or comment may lack its end. */
const TEXT = /"""(?:\\"""|[^])*?(?:"""|$)|"(?:\\.|[^"\\\n\r])*"?|#[^\n\r]*|[[\]{}()]/g;

/**
 * The greatest depth of brackets, braces and parentheses in a text of GraphQL. A parser calls itself
 * for each of them, so the depth is checked before the text is parsed. Unmatched closing ones do not
 * count.
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
