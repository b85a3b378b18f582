import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { readCategories } from "../api/catalogue.ts";
import { publicApi } from "../api/client.ts";
import { resultOf } from "../api/result.ts";
import type { Result } from "../api/result.ts";
import { isSignedIn } from "../api/session.ts";
import type { ListedMarket } from "../api/types.ts";
import { Filters } from "../components/home/filters.tsx";
import { MarketList } from "../components/home/market_list.tsx";
import { PlayMoney } from "../components/home/play_money.tsx";
import { moreThan, PAGE, pageCountOf, pathOf, searchOf } from "../components/home/search.ts";
import type { Search } from "../components/home/search.ts";
import { ProblemNotice } from "../components/notice.tsx";
import { SearchField } from "../components/search_field.tsx";
import { Empty, Show } from "../components/states.tsx";
import { formatCount } from "../format.ts";
import { useAsked } from "../hooks/use_asked.ts";
import { useEvery } from "../hooks/use_every.ts";
import { useTitle } from "../hooks/use_title.ts";
import { navigate, query } from "../router.ts";

const READ_EVERY_MS = 20_000;

/** All markets, to search and to choose from. The address says which are listed. */
export function HomePage(): JSX.Element {
  useTitle(undefined);
  const search = searchOf(query.value);
  const change = (values: Partial<Search>): void => {
    navigate(pathOf(searchOf(query.peek()), values), { replace: true });
  };
  return (
    <>
      <div class="home-head">
        <h1>What will happen?</h1>
        <p class="lead">
          Each figure is the price of the last trade: the chance that traders see. Buy the answer
          you believe in.
        </p>
        {!isSignedIn.value && <PlayMoney />}
        <SearchField
          label="Search markets"
          text={search.query}
          onText={(text) => {
            change({ query: text });
          }}
        />
      </div>
      <Categories search={search} />
      <Filters search={search} onChange={change} />
      <Markets
        key={pathOf(search)}
        search={search}
        onMore={(shown) => {
          change({ shown });
        }}
      />
    </>
  );
}

function Categories({ search }: { search: Search }): JSX.Element {
  const categories = useAsked(readCategories, []);
  const all = [{ slug: "", name: "All" }, ...(categories.data ?? [])];
  return (
    <nav class="chips" aria-label="Categories">
      {all.map(({ slug, name }) => (
        <a
          key={slug}
          class="chip"
          href={pathOf(search, { category: slug })}
          aria-current={slug === search.category ? "true" : undefined}
        >
          {name}
        </a>
      ))}
    </nav>
  );
}

interface MarketsProps {
  search: Search;
  onMore: (shown: number) => void;
}

function Markets({ search, onMore }: MarketsProps): JSX.Element {
  const { shown } = search;
  const pageCount = pageCountOf(shown);
  const pages = useRef<Page[]>([]);
  const markets = useAsked<Listed>(async () => {
    // Only what is not here yet is read for more of it; else everything is read anew.
    const first = pages.current.length < pageCount ? pages.current.length : 0;
    const numbers = Array.from({ length: pageCount - first }, (_, index) => first + index + 1);
    const answers = await Promise.all(numbers.map((number) => readPage(search, number)));
    const problem = answers.find((answer) => !answer.ok);
    if (problem !== undefined) return problem;
    const read = answers.flatMap((answer) => (answer.ok ? [answer.data] : []));
    pages.current = [...pages.current.slice(0, first), ...read];
    return { ok: true, data: joined(pages.current) };
  }, [pageCount]);
  // A long list is read less often.
  useEvery(READ_EVERY_MS * pageCount, markets.askAgain);
  const more = moreThan(shown);
  return (
    <Show asked={markets} lines={8}>
      {({ listed, total }) => (
        <>
          <p class="unseen" role="status">
            {total} {total === 1 ? "market" : "markets"}
          </p>
          {listed.length === 0 ? (
            <Empty title="No markets found">
              Try other words, or <a href="/">see all markets</a>.
            </Empty>
          ) : (
            <MarketList markets={listed.slice(0, shown)} read={listed} />
          )}
          <ProblemNotice problem={markets.problem} />
          {total > shown && more !== undefined && (
            <button
              type="button"
              class="button centred"
              aria-busy={markets.isLoading}
              onClick={() => {
                onMore(more);
              }}
            >
              Show more
            </button>
          )}
          {total > shown && more === undefined && (
            <p class="muted">
              These are the first {formatCount(shown)} of {formatCount(total)} markets. Search to
              find the others.
            </p>
          )}
        </>
      )}
    </Show>
  );
}

interface Page {
  data: ListedMarket[];
  meta: { total: number };
}

interface Listed {
  listed: ListedMarket[];
  total: number;
}

async function readPage(search: Search, page: number): Promise<Result<Page>> {
  const { query: words, category, sort, status } = search;
  const asked = {
    ...{ sort, status, page, limit: PAGE },
    ...(words !== "" && { query: words }),
    ...(category !== "" && { category }),
  };
  return await resultOf(publicApi.GET("/api/v1/markets", { params: { query: asked } }));
}

/** One list of all pages. A market that moved between two is listed once. */
function joined(pages: Page[]): Listed {
  const markets = pages.flatMap(({ data }) => data);
  const byId = new Map(markets.map((market) => [market.id, market]));
  return { listed: [...byId.values()], total: pages.at(-1)?.meta.total ?? 0 };
}
