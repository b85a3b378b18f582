import { followLinks } from "../router.ts";
import { show } from "../show.tsx";
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

show(<App />);
