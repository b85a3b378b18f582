import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Field } from "../components/field.tsx";
import { feeCents, feeWeight, USUAL_RATE_BPS } from "../components/fee.ts";
import { WIDEST_SPREAD } from "../components/market/chance.ts";
import { formatCents, parseCount } from "../format.ts";
import { useTitle } from "../hooks/use_title.ts";

/** How it works. */
export function HelpPage(): JSX.Element {
  useTitle("Help");
  return (
    <div class="narrow wide-text prose">
      <h1>How it works</h1>
      <h2>A share is a question with a price</h2>
      <p>
        Each market asks a question with the answers YES and NO. A share of the right answer pays
        €1.00, a share of the wrong one nothing. So a price of 63¢ for YES says that traders see a
        chance of 63%.
      </p>
      <ul>
        <li>
          Buy YES if you think it is likelier than its price, and NO if you think it is less likely.
        </li>
        <li>Sell your shares at any time while the market is open, if somebody buys them.</li>
        <li>When the market resolves, winning shares are paid out to your cash automatically.</li>
        <li>
          Where neither answer is wholly right, as after a draw, a market can be resolved partly
          YES, partly NO: a YES share pays a part of €1.00 that the operator sets, such as 25¢, and
          a NO share the rest.
        </li>
      </ul>
      <h2>How a market is resolved</h2>
      <p>
        Its page says what decides the outcome, and by which source. An operator resolves it and
        gives the evidence. Everybody can read there the evidence, and each correction with its
        reason. Who held shares can dispute the outcome for some time; an operator answers. A market
        can also be undone: then all get back what they put in.
      </p>
      <Figures />
      <h2>Orders</h2>
      <p>
        An amount (a budget order) buys at once as many shares as it pays for. A limit order names
        your price; what does not trade at once waits in the book. Shares now (a market order) takes
        the prices that are there. Open orders reserve no cash: it is checked when they trade.
      </p>
      <p>
        The price of a limit order follows the best one until you fill in how much. Choose a price
        of the order book, or type one, to have another.
      </p>
      <p>
        To change an open order to a smaller size keeps its place in the queue. Any other change
        places a new order instead of it, at the back of the queue; it may trade at once.
      </p>
      <h2>Live markets</h2>
      <p>
        On a live market an order waits some seconds before it trades, so that nobody trades on news
        that others cannot have seen. The market says how long. Until then you can cancel it. What
        the order will meet cannot be known before: the ticket counts what it would trade if the
        book stayed as it is.
      </p>
      <h2>Fees</h2>
      <p>
        Who takes an offer from the book pays a fee; who waits in the book pays none. The fee is
        highest at 50¢ and falls to the edges.
      </p>
      <FeeCalculator />
      <h2>Trade responsibly</h2>
      <p>
        You can lose all that you put into a position. Set <a href="/account#limits">loss limits</a>{" "}
        for a day, a week and a month: lowering one holds at once, raising one takes 24 hours. You
        can also <a href="/account#exclusion">exclude yourself</a> from trading for a time or for
        good; you cannot shorten that.
      </p>
      <h2>For programs</h2>
      <p>
        A program can trade, and read all that these pages show of markets, your orders and your
        portfolio. Make a key in <a href="/account#keys">your account</a> and read the{" "}
        <a href="/docs">API documentation</a>. Your account itself, such as its password, keys and
        loss limits, is changed on these pages only.
      </p>
    </div>
  );
}

function Figures(): JSX.Element {
  return (
    <>
      <h2 id="volume">The figures of a market</h2>
      <ul>
        <li>
          <strong>Chance</strong>: the middle of the best bid and ask while they are at most{" "}
          {WIDEST_SPREAD}¢ apart. Else it is the price of the last trade, held between bid and ask.
          Lists and charts show the price of the last trade, which holds until the next one. A
          market&apos;s page says which of them its number is.
        </li>
        <li>
          <strong>Volume</strong>: the price of YES and that of NO for each share that was traded,
          €1.00 together. So a trade of 15 shares adds €15.00.
        </li>
        <li>
          <strong>Traders</strong>: how many users have traded in the market.
        </li>
        <li>
          <strong>Sell now</strong>: what a market order that sells your shares would pay at this
          moment, after its fee. It is less than at the last price where buyers offer less.
        </li>
      </ul>
    </>
  );
}

function FeeCalculator(): JSX.Element {
  const [price, setPrice] = useState("50");
  const [shares, setShares] = useState("100");
  const [p, n] = [parseCount(price), parseCount(shares)];
  const isGood = p !== undefined && p >= 1 && p <= 99 && n !== undefined && n >= 1 && n <= 10_000;
  return (
    <section class="panel stack" aria-labelledby="fee-title">
      <h3 id="fee-title">Fee calculator</h3>
      <div class="field-pair">
        <Field
          label="Shares"
          name="shares"
          inputMode="numeric"
          value={shares}
          onValue={setShares}
        />
        <Field
          label="Price"
          name="price"
          unit="¢"
          inputMode="numeric"
          value={price}
          onValue={setPrice}
        />
      </div>
      <p role="status">
        {isGood ? (
          <>
            Fee <strong>{formatCents(feeCents(feeWeight(n, p), USUAL_RATE_BPS))}</strong> on a trade
            of {formatCents(n * p)}
          </>
        ) : (
          "Give a price from 1 to 99 cents and a whole number of shares."
        )}
      </p>
      <p class="hint">
        At the usual rate of 7% of shares × price × (1 − price). A market may have another rate: its
        ticket shows the exact fee before you send an order.
      </p>
    </section>
  );
}
