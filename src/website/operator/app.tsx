import type { JSX } from "preact";
import { retryDelayMs } from "../api/result.ts";
import type { Problem } from "../api/result.ts";
import { Boundary } from "../components/boundary.tsx";
import { SkipLink } from "../components/skip_link.tsx";
import { Loading } from "../components/states.tsx";
import { ThemeChoice } from "../components/theme_choice.tsx";
import { useFocusOnNewPage } from "../hooks/use_focus_on_new_page.ts";
import { useRetry } from "../hooks/use_retry.ts";
import { fragment, path } from "../router.ts";
import { loadSession, memberNow, session } from "./api/session.ts";
import { wordsOf } from "./api/words.ts";
import { StaffHeader } from "./components/header.tsx";
import { AuditPage } from "./pages/audit.tsx";
import { CashPage } from "./pages/cash.tsx";
import { EventPage } from "./pages/event.tsx";
import { EventsPage } from "./pages/events.tsx";
import { IncidentsPage } from "./pages/incidents.tsx";
import { ListPage } from "./pages/list.tsx";
import { MarketPage } from "./pages/market.tsx";
import { MarketsPage } from "./pages/markets.tsx";
import { OverviewPage } from "./pages/overview.tsx";
import { ProposalPage } from "./pages/proposal.tsx";
import { ProposalsPage } from "./pages/proposals.tsx";
import { ResolutionsPage } from "./pages/resolutions.tsx";
import { SafetyPage } from "./pages/safety.tsx";
import { SettingsPage } from "./pages/settings.tsx";
import { SignInPage } from "./pages/sign_in.tsx";
import { StaffPage } from "./pages/staff.tsx";
import { SurveillancePage } from "./pages/surveillance.tsx";
import { UserPage } from "./pages/user.tsx";
import { UsersPage } from "./pages/users.tsx";
import { WelcomePage } from "./pages/welcome.tsx";
import { staffPageAt } from "./paths.ts";
import type { ListName, StaffPageAddress, StaffPageName } from "./paths.ts";

const pages: Record<StaffPageName, (id: string) => JSX.Element> = {
  overview: () => <OverviewPage />,
  welcome: () => <WelcomePage key={fragment.value} />,
  resolutions: () => <ResolutionsPage />,
  markets: () => <MarketsPage />,
  market: (id) => <MarketPage key={id} id={id} />,
  events: () => <EventsPage />,
  event: (id) => <EventPage key={id} id={id} />,
  incidents: () => <IncidentsPage />,
  safety: () => <SafetyPage />,
  surveillance: () => <SurveillancePage />,
  users: () => <UsersPage />,
  user: (id) => <UserPage key={id} id={id} />,
  cash: () => <CashPage />,
  proposals: () => <ProposalsPage />,
  proposal: (id) => <ProposalPage key={id} id={id} />,
  staff: () => <StaffPage />,
  audit: () => <AuditPage />,
  settings: () => <SettingsPage />,
  list: (name) => <ListPage key={name} name={name as ListName} />,
};

/** All pages of staff: what is on each, and the page. */
export function App(): JSX.Element {
  const shown = staffPageAt(path.value);
  const main = useFocusOnNewPage(shown);
  const member = memberNow();
  return (
    <>
      <SkipLink main={main} />
      <StaffHeader member={member} />
      <main id="main" class="main" tabIndex={-1} ref={main}>
        <Boundary key={`${shown?.name}/${shown?.id}/${member?.staffId}`}>
          <Page shown={shown} />
        </Boundary>
      </main>
      <footer class="footer">
        <div class="footer-inner">
          <p>Everything that is done here stays in the audit. All times are UTC.</p>
          <ThemeChoice />
        </div>
      </footer>
    </>
  );
}

function Page({ shown }: { shown: StaffPageAddress | undefined }): JSX.Element {
  if (shown === undefined) {
    return (
      <div class="narrow panel">
        <h1>There is no such page</h1>
        <p>
          <a href="/operator">Go to the overview</a>
        </p>
      </div>
    );
  }
  if (shown.name === "welcome") return pages.welcome("");
  const { value: now } = session;
  switch (now.state) {
    case "unknown":
      return <Loading />;
    case "failed":
      return <NoSession problem={now.problem} />;
    case "nobody":
      return <SignInPage hasEnded={now.hasEnded} />;
    case "signedIn":
      return pages[shown.name](shown.id);
  }
}

function NoSession({ problem }: { problem: Problem }): JSX.Element {
  const tryAgain = (): void => void loadSession();
  useRetry(problem, tryAgain);
  return (
    <div class="narrow panel">
      <h1>These pages cannot be used now</h1>
      <p role="alert">
        {problem.status === 404
          ? "This server has no login for operators. Ask for the address of one that has it."
          : wordsOf(problem)}
        {retryDelayMs(problem) !== undefined && " This page then tries by itself."}
      </p>
      <button type="button" class="button" onClick={tryAgain}>
        Try again
      </button>
    </div>
  );
}
