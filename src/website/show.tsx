import { render } from "preact";
import type { JSX } from "preact";
import { Boundary } from "./components/boundary.tsx";
import { keepFocus } from "./focus.ts";

/** Puts the pages into the document, in place of the words that stand there until then. */
export function show(app: JSX.Element): void {
  const root = document.getElementById("app");
  if (root === null) return;
  root.replaceChildren();
  render(<Boundary>{app}</Boundary>, root);
  keepFocus(root);
}
