import type { JSX } from "preact";
import { useCommand } from "../../hooks/use_command.ts";
import { path } from "../../router.ts";
import { signOut } from "../api/session.ts";
import type { StaffSession } from "../../api/types.ts";
import { staffPageAt } from "../paths.ts";
import type { StaffPageName } from "../paths.ts";
import { StaffProblem } from "./problem.tsx";

interface Link {
  href: string;
  label: string;
  names: readonly StaffPageName[];
}

const links: readonly Link[] = [
  { href: "/operator", label: "Overview", names: ["overview"] },
  { href: "/operator/resolutions", label: "Resolutions", names: ["resolutions"] },
  { href: "/operator/incidents", label: "Incidents", names: ["incidents"] },
  { href: "/operator/safety", label: "Safety", names: ["safety"] },
  { href: "/operator/surveillance", label: "Surveillance", names: ["surveillance"] },
  { href: "/operator/users", label: "Users", names: ["users", "user"] },
  { href: "/operator/markets", label: "Markets", names: ["markets", "market"] },
  { href: "/operator/events", label: "Events", names: ["events", "event"] },
  { href: "/operator/cash", label: "Cash", names: ["cash"] },
  { href: "/operator/proposals", label: "Proposals", names: ["proposals", "proposal"] },
  { href: "/operator/staff", label: "Staff", names: ["staff"] },
  { href: "/operator/audit", label: "Audit", names: ["audit", "list"] },
  { href: "/operator/settings", label: "Settings", names: ["settings"] },
];

/** The top of every page of staff. Every member reads every page; roles say which forms it has. */
export function StaffHeader({ member }: { member: StaffSession | undefined }): JSX.Element {
  const shown = staffPageAt(path.value)?.name;
  return (
    <header class="header">
      <div class="header-inner">
        <a class="brand" href="/operator">
          <span>pgmarkets for staff</span>
        </a>
        {member !== undefined && (
          <>
            <Own member={member} />
            <nav class="nav operator-nav" aria-label="Main">
              {links.map(({ href, label, names }) => (
                <a
                  key={href}
                  href={href}
                  aria-current={shown !== undefined && names.includes(shown) ? "page" : undefined}
                >
                  {label}
                </a>
              ))}
            </nav>
          </>
        )}
      </div>
    </header>
  );
}

function Own({ member }: { member: StaffSession }): JSX.Element {
  const command = useCommand();
  return (
    <div class="header-own">
      <span class="small">
        {member.name} <span class="muted">({member.roles.join(", ")})</span>
      </span>
      <button
        type="button"
        class="button button-small"
        aria-disabled={command.isBusy}
        onClick={() => void command.give(signOut)}
      >
        Sign out
      </button>
      <StaffProblem problem={command.problem} />
    </div>
  );
}
