import { render } from "preact";
import { Boundary } from "../components/boundary.tsx";
import { keepFocus } from "../focus.ts";
import { followLinks } from "../router.ts";
import "../styles/all.css";
import "../styles/operator.css";
import { followTheme } from "../theme.ts";
import { loadSession } from "./api/session.ts";
import { App } from "./app.tsx";
import { isStaffPath } from "./paths.ts";

/** Starts the pages of staff in a browser. They share no session and no stream with traders. */
followTheme();
followLinks(isStaffPath);
void loadSession();

const root = document.getElementById("app");
if (root !== null) {
  root.replaceChildren();
  render(
    <Boundary>
      <App />
    </Boundary>,
    root,
  );
  keepFocus(root);
}
