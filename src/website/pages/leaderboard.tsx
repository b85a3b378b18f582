import type { JSX } from "preact";
import { readCategories } from "../api/catalogue.ts";
import { ownApi, publicApi } from "../api/client.ts";
import { resultOf } from "../api/result.ts";
import { isSignedIn, session } from "../api/session.ts";
import type { LeaderboardEntry } from "../api/types.ts";
import { Change } from "../components/change.tsx";
import { Choice } from "../components/choice.tsx";
import { Fact } from "../components/fact.tsx";
import { Person } from "../components/person.tsx";
import { Empty, Show } from "../components/states.tsx";
import { formatCount, formatRatio, formatVolume } from "../format.ts";
import { useAsked } from "../hooks/use_asked.ts";
import { useEvery } from "../hooks/use_every.ts";
import { useTitle } from "../hooks/use_title.ts";
import { query, setQuery } from "../router.ts";

/** The server counts anew once a minute. */
const READ_EVERY_MS = 60_000;

const windows = [
  { value: "day", label: "Today" },
  { value: "week", label: "7 days" },
  { value: "month", label: "30 days" },
  { value: "ytd", label: "This year" },
  { value: "all", label: "All time" },
] as const;

type Window = (typeof windows)[number]["value"];

/** Who realised most. */
export function LeaderboardPage(): JSX.Element {
  useTitle("Leaderboard");
  const asked = query.value.get("window");
  const window = windows.find(({ value }) => value === asked)?.value ?? "all";
  const category = query.value.get("category") ?? "all";
  return (
    <>
      <h1>Leaderboard</h1>
      <p class="lead">Who realised most by trading. Counted anew every minute, in UTC days.</p>
      <div class="filters">
        <Choice
          label="Period"
          value={window}
          options={windows}
          onChange={(value) => {
            setQuery({ window: value });
          }}
        />
        <CategorySelect chosen={category} />
      </div>
      <Summary window={window} category={category} />
      {isSignedIn.value && <OwnPlace key={session.value} window={window} category={category} />}
      <Ranks window={window} category={category} />
    </>
  );
}

function CategorySelect({ chosen }: { chosen: string }): JSX.Element {
  const categories = useAsked(readCategories, []);
  return (
    <label class="select">
      <span class="unseen">Category</span>
      <select
        value={chosen}
        onChange={(event) => {
          setQuery({ category: event.currentTarget.value });
        }}
      >
        <option value="all">All categories</option>
        {categories.data?.map(({ slug, name }) => (
          <option key={slug} value={slug}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

interface Of {
  window: Window;
  category: string;
}

function Summary({ window, category }: Of): JSX.Element {
  const summary = useAsked(
    () =>
      resultOf(
        publicApi.GET("/api/v1/leaderboard/summary", { params: { query: { window, category } } }),
      ),
    [window, category],
  );
  useEvery(READ_EVERY_MS, summary.askAgain);
  return (
    <Show asked={summary} lines={2}>
      {({ traderCount, totalVolumeCents, openInterestCents, biggestSingleWin, medianTrader }) => (
        <section class="panel stack" aria-label="All traders">
          <dl class="facts facts-wide">
            <Fact name="Public traders with settled trades">{formatCount(traderCount)}</Fact>
            <Fact name="Settled volume">{formatVolume(totalVolumeCents)}</Fact>
            <Fact name="Open interest">{formatVolume(openInterestCents)}</Fact>
            {biggestSingleWin !== null && (
              <Fact name="Biggest win">
                <Change cents={biggestSingleWin.plCents} />{" "}
                <a class="small" href={`/markets/${biggestSingleWin.marketId}`}>
                  {biggestSingleWin.displayName}
                </a>
              </Fact>
            )}
            {medianTrader !== null && (
              <Fact name="Median trader">
                <Change cents={medianTrader.plCents} />
              </Fact>
            )}
          </dl>
          <p class="hint">
            Settled trades are positions of markets that were resolved in this period; the list
            below also has traders who sold or merged. The biggest win is that of a public profile.
            Volume, open interest and the median trader are those of everybody, also of private
            profiles.
          </p>
        </section>
      )}
    </Show>
  );
}

function OwnPlace({ window, category }: Of): JSX.Element {
  const own = useAsked(
    () =>
      resultOf(ownApi.GET("/api/v1/leaderboard/me", { params: { query: { window, category } } })),
    [window, category],
  );
  return (
    <Show asked={own} lines={1}>
      {({ self }) => (
        <p class="panel own-place">
          {self === null ? (
            "You realised nothing in this period, so you have no place yet."
          ) : (
            <>
              Your place: <strong>{formatCount(self.rank)}</strong>, with{" "}
              <strong>
                <Change cents={self.plCents} />
              </strong>
            </>
          )}
        </p>
      )}
    </Show>
  );
}

function Ranks({ window, category }: Of): JSX.Element {
  const ranks = useAsked(
    () =>
      resultOf(publicApi.GET("/api/v1/leaderboard", { params: { query: { window, category } } })),
    [window, category],
  );
  useEvery(READ_EVERY_MS, ranks.askAgain);
  return (
    <Show asked={ranks} lines={8}>
      {({ entries }) =>
        entries.length === 0 ? (
          <Empty title="Nobody has realised anything in this period" />
        ) : (
          <div class="panel table-box" tabIndex={0} role="region" aria-label="Ranks">
            <table class="table">
              <thead>
                <tr>
                  <th scope="col">Place</th>
                  <th scope="col">Trader</th>
                  <th scope="col">Profit or loss</th>
                  <th scope="col">Settled volume</th>
                  <th scope="col">Settled positions</th>
                  <th scope="col">Won of these</th>
                </tr>
              </thead>
              <tbody>
                {entries.map((entry) => (
                  <Rank key={entry.rank} entry={entry} />
                ))}
              </tbody>
            </table>
          </div>
        )
      }
    </Show>
  );
}

type Entry = LeaderboardEntry | { isPrivate: true; rank: number };

function Rank({ entry }: { entry: Entry }): JSX.Element {
  if ("isPrivate" in entry) {
    return (
      <tr class="muted">
        <td>{entry.rank}</td>
        <td colSpan={5}>A trader with a private profile, not counted above</td>
      </tr>
    );
  }
  const { rank, displayName, handle, plCents, volCents, winRate, settledCount } = entry;
  return (
    <tr>
      <td>{rank}</td>
      <th scope="row">
        <Person displayName={displayName} handle={handle} />
      </th>
      <td>
        <Change cents={plCents} />
      </td>
      <td>{formatVolume(volCents)}</td>
      <td>{formatCount(settledCount)}</td>
      <td>{settledCount === 0 ? "–" : formatRatio(winRate)}</td>
    </tr>
  );
}
