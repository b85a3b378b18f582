import test from "ava";
import { overlapping } from "../../helpers/database/overlapping.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import { randomFrom } from "../../helpers/random.ts";

/** api.list_markets: the markets of all categories, by words. */

const exchange = testExchange(test, {
  idsAscend: true,
  // One test makes and changes markets itself.
  breaks: [
    "market is what was called for",
    "market closes when it was called for",
    "market has the status that was called for",
  ],
});
const { clock, makeMarket, makeTraders, operate, place, work } = exchange;

interface Volumes {
  yesVolume: number;
  noVolume: number;
}

interface Asked {
  query?: string;
  category?: string;
  status?: string;
  sort?: string;
  page?: number;
  pageSize?: number;
}

async function list(asked: Asked = {}): Promise<any> {
  const given = { page: 1, pageSize: 50, status: "open", sort: "volume", ...asked };
  return JSON.parse((await exchange.calls.listMarkets(given)) ?? "null");
}

const titles = async (asked: Asked) =>
  (await list(asked)).data.map(({ title }: { title: string }) => title);

const ids: Record<string, string> = {};

test.serial.before("make markets", async () => {
  await clock.freeze("2030-01-01T12:00:00Z");
  await operate("create_category", { slug: "sports", name: "Sports" });
  const event_id = await operate("create_event", { title: "Chess Olympiad", category: "sports" });
  const make = async (title: string, more: Record<string, unknown> = {}) => {
    ids[title] = await makeMarket({ title, ...more });
  };
  await make("India wins gold", {
    category: "sports",
    event_id,
    close_time: "2030-03-01T00:00:00Z",
  });
  await make("Norway wins gold", {
    category: "sports",
    event_id,
    close_time: "2030-02-01T00:00:00Z",
  });
  await make("Élections législatives: un nouveau maire?");
  await make("O'Neill & Söhne: 50% (or more) \\ :* !");
  await make("Paused");
  await make("Closed");
  await operate("set_market_status", { market_id: ids.Paused, status: "paused" });
  await operate("set_market_status", { market_id: ids.Closed, status: "closed" });
  const [ann, bob] = await makeTraders(2);
  for (const [title, quantity] of [
    ["Norway wins gold", 5],
    ["India wins gold", 3],
  ] as const) {
    await place(ids[title]!, ann, buy("yes", quantity, 50));
    await place(ids[title]!, bob, buy("no", quantity, 50));
  }
  await work("make_candles");
});

test.serial("by status: open, closed with resolved ones, or all", async (t) => {
  t.is((await list()).meta.total, 4);
  t.deepEqual(await titles({ status: "closed" }), ["Closed"]);
  t.is((await list({ status: "all" })).meta.total, 6);
});

test.serial("sorted by volume, newest, or what closes soonest", async (t) => {
  const { data } = await list();
  t.deepEqual(
    data.map(({ yesVolume, noVolume }: Volumes) => yesVolume + noVolume),
    [500, 300, 0, 0],
  );
  t.is((await titles({ sort: "newest" }))[3], "India wins gold");
  t.deepEqual((await titles({ sort: "closing" })).slice(0, 2), [
    "Norway wins gold",
    "India wins gold",
  ]);
});

test.serial(
  "by words of the title and of the event, all of them, in any order and case",
  async (t) => {
    t.deepEqual(await titles({ query: "gold OLYMPIAD norway" }), ["Norway wins gold"]);
    t.deepEqual(await titles({ query: "gold sweden" }), []);
    t.deepEqual(await titles({ query: "oly" }), ["Norway wins gold", "India wins gold"]);
    t.deepEqual(
      await titles({ query: "winning" }),
      ["Norway wins gold", "India wins gold"],
      "stem",
    );
    t.is((await titles({ query: "élections" })).length, 1);
    t.is((await titles({ query: "new mayor" })).length, 0);
    t.is((await list({ query: "   " })).meta.total, 4, "nothing is asked for");
  },
);

test.serial("what looks like an operator is none", async (t) => {
  for (const query of ["O'Neill", "o'neill söhne", "50%", "(more", "söh:*", "neill & !more"]) {
    t.is((await titles({ query })).length, 1, query);
  }
  for (const query of ["!", "&|!():*<->", "\\", "'", '"', "\\'; drop table x"]) {
    t.deepEqual(await titles({ query }), [], query);
  }
});

test.serial("by category; null for an unknown one", async (t) => {
  t.is((await list({ category: "sports" })).meta.total, 2);
  t.is((await list({ category: "sports", query: "india" })).meta.total, 1);
  t.is(await list({ category: "nowhere" }), null);
});

test.serial("by pages; one beyond the end is empty", async (t) => {
  const first = await list({ pageSize: 3 });
  const second = await list({ pageSize: 3, page: 2 });
  t.deepEqual([first.data.length, first.meta.hasMore], [3, true]);
  t.deepEqual([second.data.length, second.meta.hasMore], [1, false]);
  const far = await list({ pageSize: 50, page: 2_147_483_647 });
  t.deepEqual([far.data, far.meta.total], [[], 4]);
});

test.serial("a title that is edited is found by its new words", async (t) => {
  await operate("edit_market", { market_id: ids["India wins gold"], title: "India wins silver" });
  t.deepEqual(await titles({ query: "silver olympiad" }), ["India wins silver"]);
  t.deepEqual(await titles({ query: "gold olympiad" }), ["Norway wins gold"]);
});

test.serial("the markets of an event that is renamed are found by its new words", async (t) => {
  const olympiad = (await list({ query: "olympiad" })).data;
  await operate("edit_event", { event_id: olympiad[0].eventId, title: "Chess Championship" });
  t.deepEqual(await titles({ query: "championship", sort: "closing" }), [
    "Norway wins gold",
    "India wins silver",
  ]);
  t.deepEqual(await titles({ query: "olympiad" }), []);
});

const made = "select admin.create_market('Penalties?', 'sports', event_id => $1)";
const renamed = "select admin.edit_event(event_id => $1, title => 'Tournament')";

for (const [order, first, second] of [
  ["after a market is made", made, renamed],
  ["before a market is made", renamed, made],
] as const) {
  test.serial(`an event is renamed at the same moment, ${order}`, async (t) => {
    const event_id = await operate("create_event", { title: "Semifinal", category: "sports" });
    await overlapping(
      exchange.database.pool,
      (client) => client.query(first, [event_id]),
      (client) => client.query(second, [event_id]),
    );
    t.deepEqual(await titles({ query: "tournament" }), ["Penalties?"]);
    t.deepEqual(await titles({ query: "semifinal" }), []);
    await operate("edit_event", { event_id, title: "Over" });
  });
}

test.serial("every list after any changes, by all pages, with and without words", async (t) => {
  const { anyOf, between } = randomFrom("lists");
  const { pool } = exchange.database;
  for (let round = 0; round < 4; round++) {
    for (let number = 0; number < 12; number++) {
      await pool.query(
        `insert into catalog.markets (category_id, title, close_time)
         select c.id, $1, nullif($2, 'none')::timestamptz
         from catalog.categories as c order by md5(c.id::text || $3) limit 1`,
        [
          `Round ${round}`,
          anyOf(["none", "2031-01-01", "2032-01-01", "2033-01-01"]),
          String(between(0, 99)),
        ],
      );
      await pool.query(
        `insert into trading.market_state (market_id, yes_volume_cents, no_volume_cents)
         select max(m.id), $1, $2 from catalog.markets as m`,
        [between(0, 3), between(0, 3)],
      );
      await pool.query(
        `update catalog.markets set status = $1::catalog.market_status,
           close_time = nullif($2, 'none')::timestamptz
         where id = (
           select m.id from catalog.markets as m where m.status <> 'resolved'
           order by md5(m.id::text || $3) limit 1
         )`,
        [
          anyOf(["open", "open", "paused", "closed"]),
          anyOf(["none", "2031-06-01", "2034-01-01"]),
          String(between(0, 99)),
        ],
      );
    }
    // At least one is closed.
    const { rows: closed } = await pool.query(
      `update catalog.markets set status = 'closed'
       where id = (select max(id) from catalog.markets where status <> 'resolved')
       returning public_id`,
    );
    await operate("resolve_market", { market_id: closed[0].public_id, outcome: "yes" });
    await pool.query(
      `update catalog.markets set category_id = (select max(id) from catalog.categories)
       where id = (select max(id) from catalog.markets where event_id is null)`,
    );
    // A market that is made, and a change of it, read its volume: these have all of theirs.
    await pool.query("update catalog.markets set close_time = close_time");
    for (const category of [undefined, "sports", "tests"]) {
      for (const status of ["open", "closed", "all"]) {
        for (const sort of ["volume", "newest", "closing"]) {
          for (const query of [undefined, "round"]) {
            const asked = { status, sort, ...(category && { category }), ...(query && { query }) };
            const expected = await listed(asked);
            const pages: string[] = [];
            for (let page = 1; page <= expected.length / 7 + 2; page++) {
              const { data, meta } = await list({ ...asked, page, pageSize: 7 });
              pages.push(...data.map(({ id }: { id: string }) => id));
              t.is(meta.total, expected.length);
            }
            t.deepEqual(pages, expected, JSON.stringify(asked));
          }
        }
      }
    }
  }
  // No trade made the volumes.
  await pool.query(
    "update trading.market_state set yes_volume_cents = 0, no_volume_cents = 0 where trade_count = 0",
  );
  const { rows } = await pool.query("select * from trading.verify_markets()");
  t.deepEqual(
    rows.filter(({ name }) => /list|counts its events/.test(name)),
    [],
  );
});

/** The ids of a list by first principles. */
async function listed({ query, category, status, sort }: Asked): Promise<string[]> {
  const rows = await exchange.query(
    `select m.public_id
     from catalog.markets as m
     join catalog.categories as c on c.id = m.category_id
     join trading.market_state as b on b.market_id = m.id
     where ($1::text is null or m.title ilike '%' || $1 || '%')
       and ($2::text is null or c.slug = $2)
       and ($3 = 'all' or ($3 = 'open') = (m.status = 'open') and m.status <> 'paused')
     order by
       case when $4 = 'volume' then b.yes_volume_cents + b.no_volume_cents end desc,
       case when $4 = 'closing' then m.close_time end nulls last,
       m.id desc`,
    [query, category, status, sort],
  );
  return rows.map(({ public_id }) => public_id);
}
