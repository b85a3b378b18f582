import { render } from "preact";
import { followAccount } from "./api/account.ts";
import { followOwnChanges } from "./api/own_changes.ts";
import { stopOrdersOfOthers } from "./api/stop_orders.ts";
import { App } from "./app.tsx";
import { Boundary } from "./components/boundary.tsx";
import { keepFocus } from "./focus.ts";
import { followLinks } from "./router.ts";
import { followTheme } from "./theme.ts";
import "./styles/all.css";

/** Starts the website in a browser. */
followTheme();
followLinks();
followOwnChanges();
followAccount();
stopOrdersOfOthers();

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
