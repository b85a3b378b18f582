import type { ComponentChildren, JSX } from "preact";
import { account } from "../../api/account.ts";
import type { OwnPositions } from "../../api/types.ts";
import { formatCents } from "../../format.ts";
import { Change } from "../change.tsx";
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
        <Total name="Account value">{formatCents(accountValueCents)}</Total>
        <Total name="Cash">{formatCents(balance)}</Total>
        <Total name={`Shares ${valueBasis(own.positions)}`}>
          {formatCents(worthCents)}
          {exit !== undefined && (
            <span class="second-line hint">
              sell now for {formatCents(exit.cents)}
              {exit.isPart && ", not for all"}
            </span>
          )}
        </Total>
        <Total name="Unrealised, after fees">
          <Change cents={unrealisedCents} />
        </Total>
        <Total name="Realised, after fees">
          <Change cents={realisedCents} />
        </Total>
      </dl>
    </>
  );
}

function Total({ name, children }: { name: string; children: ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
