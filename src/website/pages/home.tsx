import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { readCategories } from "../api/catalogue.ts";
import { publicApi } from "../api/client.ts";
import { resultOf } from "../api/result.ts";
import { Choice } from "../components/choice.tsx";
import { Field } from "../components/field.tsx";
import { MarketList } from "../components/home/market_list.tsx";
import { Empty, Show } from "../components/states.tsx";
import { useAsked } from "../hooks/use_asked.ts";
import { useEvery } from "../hooks/use_every.ts";
import { useTitle } from "../hooks/use_title.ts";
import { query, setQuery } from "../router.ts";

const PAGE_SIZE = 12;
const READ_EVERY_MS = 20_000;
const PAUSE_AFTER_TYPING_MS = 250;

const sorts = [
  { value: "volume", label: "Most traded" },
  { value: "newest", label: "Newest" },
  { value: "closing", label: "Closing soon" },
] as const;

const statuses = [
  { value: "open", label: "Open" },
  { value: "closed", label: "Closed" },
] as const;

type Sort = (typeof sorts)[number]["value"];
type Status = (typeof statuses)[number]["value"];

/** All markets, to search and to choose from. */
export function HomePage(): JSX.Element {
  useTitle(undefined);
  const asked = query.value;
  const search = {
    query: asked.get("query") ?? "",
    category: asked.get("category") ?? "",
    sort: oneOf(sorts, asked.get("sort")) ?? "volume",
    status: oneOf(statuses, asked.get("status")) ?? "open",
  };
  return (
    <>
      <div class="home-head">
        <h1>What will happen?</h1>
        <p class="lead">
          Each price is the chance that traders see. Buy the answer you believe in.
        </p>
        <SearchField text={search.query} />
      </div>
      <Categories chosen={search.category} />
      <div class="filters">
        <Choice
          label="Sort by"
          value={search.sort}
          options={sorts}
          onChange={(sort) => {
            setQuery({ sort });
          }}
        />
        <Choice
          label="Status"
          value={search.status}
          options={statuses}
          onChange={(status) => {
            setQuery({ status });
          }}
        />
      </div>
      <Markets key={JSON.stringify(search)} {...search} />
    </>
  );
}

function SearchField({ text }: { text: string }): JSX.Element {
  const [typed, setTyped] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => {
      setQuery({ query: typed.trim() });
    }, PAUSE_AFTER_TYPING_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [typed]);
  return (
    <search>
      <Field
        label="Search markets"
        name="query"
        type="search"
        isLabelInside
        value={typed}
        onValue={setTyped}
      />
    </search>
  );
}

function Categories({ chosen }: { chosen: string }): JSX.Element {
  const categories = useAsked(readCategories, []);
  const all = [{ slug: "", name: "All" }, ...(categories.data ?? [])];
  return (
    <nav class="chips" aria-label="Categories">
      {all.map(({ slug, name }) => (
        <a
          key={slug}
          class="chip"
          href={slug === "" ? "/" : `/?category=${slug}`}
          aria-current={slug === chosen ? "true" : undefined}
        >
          {name}
        </a>
      ))}
    </nav>
  );
}

interface Search {
  query: string;
  category: string;
  sort: Sort;
  status: Status;
}

function Markets({ query: words, category, sort, status }: Search): JSX.Element {
  const [limit, setLimit] = useState(PAGE_SIZE);
  const markets = useAsked(() => {
    const asked = {
      ...{ sort, status, limit },
      ...(words !== "" && { query: words }),
      ...(category !== "" && { category }),
    };
    return resultOf(publicApi.GET("/api/v1/markets", { params: { query: asked } }));
  }, [limit]);
  useEvery(READ_EVERY_MS, markets.askAgain);
  return (
    <Show asked={markets} lines={8}>
      {({ data, meta }) => (
        <>
          <p class="unseen" role="status">
            {meta.total} {meta.total === 1 ? "market" : "markets"}
          </p>
          {data.length === 0 ? (
            <Empty title="No markets found">
              Try other words, or <a href="/">see all markets</a>.
            </Empty>
          ) : (
            <MarketList markets={data} />
          )}
          {meta.hasMore && limit < 48 && (
            <button
              type="button"
              class="button centred"
              onClick={() => {
                setLimit(limit + PAGE_SIZE);
              }}
            >
              Show more
            </button>
          )}
        </>
      )}
    </Show>
  );
}

function oneOf<Value extends string>(
  options: readonly { value: Value }[],
  text: string | null,
): Value | undefined {
  return options.find(({ value }) => value === text)?.value;
}
