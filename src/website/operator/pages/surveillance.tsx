import type { JSX } from "preact";
import { BookAsOf } from "../components/book_as_of.tsx";
import { DataTable } from "../components/data_table.tsx";
import { Section, StaffPageBody } from "../components/page.tsx";
import { views } from "../views/all.ts";

/** Trades of the last 7 days that may be abuse, and books as they were. */
export function SurveillancePage(): JSX.Element {
  return (
    <StaffPageBody title="Surveillance">
      <p class="muted">The lists are about the last 7 days.</p>
      <Section title="Pairs of users">
        <p class="muted">
          At least 5 trades with each other, and at least 3 times the shares that they would trade
          by chance.
        </p>
        <DataTable view={views.tradingPairs} prefix="pairs" />
      </Section>
      <Section title="Round trips">
        <p class="muted">One sold to the other and bought back within an hour, or the reverse.</p>
        <DataTable view={views.roundTrips} prefix="trips" />
      </Section>
      <Section title="Large trades">
        <p class="muted">
          A quarter or more of the shares that the market traded on that day, of days with at least
          5 trades.
        </p>
        <DataTable view={views.largeTrades} prefix="large" />
      </Section>
      <Section title="Late trades">
        <p class="muted">Within 10 minutes before the market closed or was resolved.</p>
        <DataTable view={views.lateTrades} prefix="late" />
      </Section>
      <Section title="A book as it was">
        <BookAsOf />
      </Section>
    </StaffPageBody>
  );
}
