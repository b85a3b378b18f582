import { setTimeout as delay } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { buildIfStale, builtDirectory } from "../../src/site/build.ts";
import { loadWebsite } from "../../src/site/files.ts";
import { liftRateLimits } from "../helpers/database/rate_limits.ts";
import { makeMember } from "../helpers/http/visitor.ts";
import { signIn } from "../website/arrive.ts";
import { launchBrowser, noBrowser, visit } from "../website/browser.ts";
import { compressedKilobytes, firstScripts } from "../website/first_load.ts";
import { checkLedger } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { publicId } from "./catalogue.ts";
import { startChild } from "./children.ts";
import type { Child } from "./children.ts";
import type { BenchDatabase } from "./cluster.ts";
import { place } from "./orders.ts";
import type { Result } from "./report.ts";
import { measureInRounds, quantile } from "./rounds.ts";

const CHANGES_PER_SECOND = 20;
/** The level whose size changes: the best offer to buy YES. */
const BEST_PRICE = 49;
const LISTED_TRADES = 500;
/** Turns of the wheel in one measurement of scrolling, and how far each goes. */
const TURNS = 40;
const TURN_PIXELS = 300;

type Server = Child<{ price: number }>;

/** What a page sends to begin with, and how fast it shows and scrolls what changes. */
export async function measureWebsite(bench: Bench): Promise<Result[]> {
  await buildIfStale();
  const website = await loadWebsite(builtDirectory);
  const kilobytes = compressedKilobytes(website, firstScripts(website));
  const size: Result = {
    ...{ target: "compressed script of the first load", unit: "KB" },
    ...{ ours: [kilobytes], must: 60, aim: 40 },
  };
  if (noBrowser !== undefined) {
    console.error(`note: skipped: the pages in a browser: ${noBrowser}`);
    return [size];
  }
  const browser = await launchBrowser();
  try {
    return [size, ...(await measureIn(browser, bench))];
  } finally {
    await browser.close();
  }
}

async function measureIn(browser: Browser, { sizes, cluster }: Bench): Promise<Result[]> {
  const database = await cluster.createDatabase("website", { isServed: true });
  await liftRateLimits(database.pool);
  await fillBook(database);
  const server: Server = startChild("website_server.ts", [database.connectionString]);
  try {
    const url = (await server.next()) as string;
    const market = await openMarket(browser, url);
    const painted = await measureInRounds(sizes, sizes.seconds, {
      name: "commit to paint",
      ours: async (seconds) => quantile(await paintTimes(market, server, seconds), 0.99),
    });
    const book = await measureInRounds(sizes, sizes.seconds, {
      name: "scrolling a book that changes",
      ours: async (seconds) => {
        const changing = change(server, seconds);
        const longest = await longestTask(market, "[aria-label='The whole book']");
        await changing;
        return longest;
      },
    });
    const history = await openHistory(browser, url, database);
    const list = await measureInRounds(sizes, sizes.seconds, {
      name: "scrolling the history",
      ours: () => longestTask(history, "main"),
    });
    await checkLedger(database);
    const longest = { unit: "ms", must: 50, aim: 25 } as const;
    return [
      {
        target: `commit to paint with ${CHANGES_PER_SECOND} changes a second, p99`,
        ...{ unit: "ms", must: 100, aim: 50, ours: painted.ours },
      },
      {
        target: "longest task while a book of 98 levels is scrolled and changes",
        ...longest,
        ours: book.ours,
      },
      {
        target: `longest task while a list of ${LISTED_TRADES} trades is scrolled`,
        ...longest,
        ours: list.ours,
      },
    ];
  } finally {
    await server.end();
    await database.drop();
  }
}

/** Every price has a level, and there are fifty trades: a snapshot is as large as it can be. */
async function fillBook({ pool }: BenchDatabase): Promise<void> {
  const maker = publicId(1);
  for (let price = 1; price <= BEST_PRICE; price++) {
    await place(pool, 1, [
      { userId: maker, side: "yes", price, quantity: 100 },
      { userId: maker, side: "no", price, quantity: 100 },
      { userId: publicId(3), side: "yes", price: 100 - BEST_PRICE, quantity: 1 },
    ]);
  }
}

async function openMarket(browser: Browser, url: string): Promise<Page> {
  const { page } = await visit(browser, url);
  await page.goto(`/markets/${publicId(1)}`);
  await page.getByRole("button", { name: /^Show all \d+ levels$/ }).click();
  await page
    .getByRole("button", { name: `Use ${BEST_PRICE} cents, an offer to buy YES` })
    .waitFor();
  return page;
}

/** Places orders evenly over the seconds; when each was committed. */
async function change(server: Server, seconds: number): Promise<number[]> {
  const committed: number[] = [];
  const began = performance.now();
  for (let count = 0; count < seconds * CHANGES_PER_SECOND; count++) {
    await delay(Math.max(0, began + (count * 1000) / CHANGES_PER_SECOND - performance.now()));
    const answered = server.next();
    server.tell({ price: BEST_PRICE });
    committed.push((await answered) as number);
  }
  return committed;
}

/** How long each order took from its commit until a frame showed it or a later one. */
async function paintTimes(page: Page, server: Server, seconds: number): Promise<number[]> {
  // Each order adds one share to a level: the number on the page says which orders it shows.
  const before: number = await page.evaluate(watchLevel);
  const committed = await change(server, seconds);
  await page.evaluate(`globalThis.levelShows(${before + committed.length})`);
  const seen: [shares: number, at: number][] = await page.evaluate("globalThis.levelSeen");
  return committed.map((at, index) => {
    const found = seen.find(([shares]) => shares >= before + index + 1);
    return (found?.[1] ?? Number.NaN) - at;
  });
}

// These run in the page: this program knows no documents.
const watchLevel = `(() => {
  const button = document.querySelector('[aria-label="Use ${BEST_PRICE} cents, an offer to buy YES"]');
  const cell = () => button.closest("tr").children[1];
  const shares = () => Number(cell().textContent.replaceAll(",", ""));
  globalThis.levelSeen = [];
  globalThis.levelObserver?.disconnect();
  globalThis.levelObserver = new MutationObserver(() => {
    const count = shares();
    requestAnimationFrame(() => setTimeout(() => {
      globalThis.levelSeen.push([count, performance.timeOrigin + performance.now()]);
    }));
  });
  globalThis.levelObserver.observe(cell(), { childList: true, characterData: true, subtree: true });
  globalThis.levelShows = (wanted) => new Promise((resolve) => {
    const look = () => {
      if (globalThis.levelSeen.some(([count]) => count >= wanted)) resolve();
      else setTimeout(look, 20);
    };
    look();
  });
  return shares();
})()`;

/** Scrolls down and up; the longest task that kept the page from answering, 0 if none did. */
async function longestTask(page: Page, selector: string): Promise<number> {
  await page.evaluate(`(() => {
    globalThis.longTasks = [];
    globalThis.longTaskObserver ??= new PerformanceObserver((list) => {
      globalThis.longTasks.push(...list.getEntries().map(({ duration }) => duration));
    });
    globalThis.longTaskObserver.observe({ type: "longtask" });
  })()`);
  await page.locator(selector).hover();
  for (let turn = 0; turn < TURNS; turn++) {
    await page.mouse.wheel(0, turn < TURNS / 2 ? TURN_PIXELS : -TURN_PIXELS);
    // A turn is drawn before the next one comes.
    await page.evaluate(
      "new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))",
    );
  }
  const found: number[] = await page.evaluate("globalThis.longTasks");
  return Math.max(0, ...found);
}

/** The history of a user with many trades, all of them shown. */
async function openHistory(browser: Browser, url: string, database: BenchDatabase): Promise<Page> {
  const { pool } = database;
  await pool.query("select admin.set_sign_up(policy => 'open', play_money_cents => 100000000)");
  const { visitor, person, userId } = await makeMember({ url, worker: pool });
  const limits = { dayCents: null, weekCents: null, monthCents: null };
  await visitor.call("PUT", "/api/account/limits", { body: limits });
  const order = { userId, side: "yes", price: 100 - BEST_PRICE, quantity: 1 } as const;
  await place(pool, 1, [{ userId: publicId(1), side: "no", price: BEST_PRICE, quantity: 5000 }]);
  for (let count = 0; count < LISTED_TRADES; count += 100) {
    await place(
      pool,
      1,
      Array.from({ length: 100 }, () => order),
    );
  }

  const { page } = await visit(browser, url);
  await page.goto("/sign-in?back=/portfolio");
  await signIn(page, person.email, person.password);
  const list = page.getByRole("region", { name: "Trades", exact: true });
  await list.waitFor();
  const more = page.getByRole("button", { name: "Show more" });
  for (;;) {
    const count = await list.locator("tbody tr").count();
    if (count >= LISTED_TRADES) return page;
    await more.click();
    await list.locator(`tbody tr:nth-child(${count + 1})`).waitFor();
  }
}
