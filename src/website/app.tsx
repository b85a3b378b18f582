import type { JSX } from "preact";
import { userConnection } from "./api/own_changes.ts";
import { account } from "./api/account.ts";
import { isSignedIn } from "./api/session.ts";
import { Boundary } from "./components/boundary.tsx";
import { ConnectionNotice } from "./components/connection.tsx";
import { Footer } from "./components/footer.tsx";
import { Lazy } from "./components/lazy.tsx";
import { Header } from "./components/header.tsx";
import { SignedOutNotice } from "./components/signed_out_notice.tsx";
import { SkipLink } from "./components/skip_link.tsx";
import { useFocusOnNewPage } from "./hooks/use_focus_on_new_page.ts";
import { PauseNotice } from "./components/pause_notice.tsx";
import { PendingNotice } from "./components/pending_notice.tsx";
import { ConfirmPage } from "./pages/confirm.tsx";
import { EventPage } from "./pages/event.tsx";
import { EventsPage } from "./pages/events.tsx";
import { HelpPage } from "./pages/help.tsx";
import { HomePage } from "./pages/home.tsx";
import { LeaderboardPage } from "./pages/leaderboard.tsx";
import { MarketPage } from "./pages/market.tsx";
import { marketConnection } from "./api/market_stream.ts";
import { NotFoundPage } from "./pages/not_found.tsx";
import { OwnPage } from "./pages/own.tsx";
import { PortfolioPage } from "./pages/portfolio.tsx";
import { ProofPage } from "./pages/proof.tsx";
import { ResetPage } from "./pages/reset.tsx";
import { SignInPage } from "./pages/sign_in.tsx";
import { SignUpPage } from "./pages/sign_up.tsx";
import { ownPages } from "./own_pages.ts";
import type { PageName } from "./paths.ts";
import { fragment, page, path } from "./router.ts";

const loadAccount = async () => (await import("./pages/account.tsx")).AccountPage;

// Pages that a mail leads to begin anew with another link, which may come while they are open.
const pages: Record<PageName, (id: string) => JSX.Element> = {
  home: () => <HomePage />,
  market: (id) => <MarketPage key={id} id={id} />,
  event: (id) => <EventPage key={id} id={id} />,
  events: () => <EventsPage />,
  portfolio: () => <PortfolioPage />,
  leaderboard: () => <LeaderboardPage />,
  account: () => <Lazy load={loadAccount} props={{}} />,
  signIn: () => <SignInPage key={fragment.value} />,
  signUp: () => <SignUpPage key={fragment.value} />,
  confirm: () => <ConfirmPage key={fragment.value} />,
  reset: () => <ResetPage key={fragment.value} />,
  help: () => <HelpPage />,
  proof: () => <ProofPage />,
};

/** A page of the operator, if the server has put the one of this path into the document. */
function OtherPage(): JSX.Element {
  const own = ownPages.page;
  return own && path.value === `/pages/${own.name}` ? <OwnPage {...own} /> : <NotFoundPage />;
}

const loadRealityCheck = async () =>
  (await import("./components/reality_check.tsx")).RealityCheckDialog;

/** The whole website: what is on every page, and the page. */
export function App(): JSX.Element {
  const shown = page.value;
  const main = useFocusOnNewPage(shown);
  const everyMinutes = account.value?.realityCheckMinutes ?? null;
  const isUserLost = isSignedIn.value && userConnection.value === "lost";
  const connections = [marketConnection.value, ...(isUserLost ? ["lost" as const] : [])];
  return (
    <>
      <SkipLink main={main} />
      <Header />
      <ConnectionNotice connections={connections} />
      <SignedOutNotice />
      <PauseNotice />
      <PendingNotice />
      <main id="main" class="main" tabIndex={-1} ref={main}>
        <Boundary key={`${shown?.name}/${shown?.id}`}>
          {shown === undefined ? <OtherPage /> : pages[shown.name](shown.id)}
        </Boundary>
      </main>
      <Footer />
      {everyMinutes !== null && <Lazy load={loadRealityCheck} props={{ everyMinutes }} isUnseen />}
    </>
  );
}
