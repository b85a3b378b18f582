import { followAccount } from "./api/account.ts";
import { followOwnChanges } from "./api/own_changes.ts";
import { stopOrdersOfOthers } from "./api/stop_orders.ts";
import { App } from "./app.tsx";
import { followLinks } from "./router.ts";
import { show } from "./show.tsx";
import { followTheme } from "./theme.ts";
import "./styles/all.css";

/** Starts the website in a browser. */
followTheme();
followLinks();
followOwnChanges();
followAccount();
stopOrdersOfOthers();

show(<App />);
