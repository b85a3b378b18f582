import type { JSX } from "preact";
import { useTitle } from "../hooks/use_title.ts";

/** A page that the operator of this exchange wrote. The server made its HTML of Markdown. */
export function OwnPage({ title, html }: { title: string; html: string }): JSX.Element {
  useTitle(title);
  return <div class="narrow wide-text prose" dangerouslySetInnerHTML={{ __html: html }} />;
}
