import type { JSX } from "preact";
import { account } from "../../api/account.ts";
import type { OwnPositions } from "../../api/types.ts";
import { formatCents } from "../../format.ts";
import { Change } from "../change.tsx";
import { Fact } from "../fact.tsx";
import { Notice } from "../notice.tsx";
import { exitOfAll } from "./exit_value.tsx";
import { valueBasis } from "./words.ts";

/** What the account is worth, of what, and how it came about. */
export function Totals({ own }: { own: OwnPositions }): JSX.Element {
  const { accountValueCents, balance, worthCents, unrealisedCents, realisedCents } = own;
  const exit = account.value?.exclusion ? undefined : exitOfAll(own.positions);
  const isEmpty = accountValueCents === 0 && realisedCents === 0;
  return (
    <>
      {isEmpty && (
        <Notice kind="info">
          There is no money in this account yet. Deposits are made by the exchange&apos;s operator.
        </Notice>
      )}
      <dl class="panel facts facts-wide totals">
        <Fact name="Account value">{formatCents(accountValueCents)}</Fact>
        <Fact name="Cash">{formatCents(balance)}</Fact>
        <Fact name={`Shares ${valueBasis(own.positions)}`}>
          {formatCents(worthCents)}
          {exit !== undefined && (
            <span class="second-line hint">
              sell now for {formatCents(exit.cents)}
              {exit.isPart && ", not for all"}
            </span>
          )}
        </Fact>
        <Fact name="Unrealised, after fees">
          <Change cents={unrealisedCents} />
        </Fact>
        <Fact name="Realised, after fees">
          <Change cents={realisedCents} />
        </Fact>
      </dl>
    </>
  );
}
