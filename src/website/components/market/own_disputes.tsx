import { timeNow } from "../../api/server_time.ts";
import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { ownApi } from "../../api/client.ts";
import { ownVersion } from "../../api/own_changes.ts";
import { resultOf } from "../../api/result.ts";
import type { Result } from "../../api/result.ts";
import type { Dispute, MarketResolution } from "../../api/types.ts";
import { formatDateTime } from "../../format.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { ProblemNotice } from "../notice.tsx";
import { Submit } from "../submit.tsx";

interface OwnDisputesProps {
  marketId: string;
  resolution: MarketResolution;
}

/** The user's disputes of a market with their answers, and a form while another is possible. */
export function OwnDisputes({ marketId, resolution }: OwnDisputesProps): JSX.Element | null {
  const { resolvedAt, correctedAt } = resolution;
  const own = useAsked(() => readOwn(marketId), [marketId, ownVersion.value]);
  if (own.data === undefined) return null;
  const { disputes, heldShares } = own.data;
  const holdsSince = correctedAt ?? resolvedAt;
  const isDisputed = disputes.some((dispute) => dispute.resolvedAt === holdsSince);
  const until = disputableUntil(resolution);
  return (
    <>
      {disputes.map((dispute) => (
        <div key={dispute.id} class="stack">
          <h3>Your dispute of {formatDateTime(dispute.createdAt)}</h3>
          <p class="prose">{dispute.text}</p>
          {dispute.answer === null ? (
            <p class="muted">It waits for an answer.</p>
          ) : (
            <p class="prose">Answer: {dispute.answer}</p>
          )}
        </div>
      ))}
      {heldShares && until !== undefined && !isDisputed && (
        <DisputeForm marketId={marketId} until={until} onDone={own.askAgain} />
      )}
    </>
  );
}

/** Until when an outcome can be disputed; undefined if it cannot, or can no more. */
export function disputableUntil({ disputeUntil }: MarketResolution): string | undefined {
  const isInTime = disputeUntil !== null && Date.parse(disputeUntil) > timeNow();
  return isInTime ? disputeUntil : undefined;
}

interface DisputeFormProps {
  marketId: string;
  until: string;
  onDone: () => void;
}

/** The server takes one dispute of each resolution, so an attempt can be repeated. */
function DisputeForm({ marketId, until, onDone }: DisputeFormProps): JSX.Element {
  const id = useId();
  const [text, setText] = useState("");
  const command = useCommand();
  const send = () => {
    const params = { path: { id: marketId } };
    return resultOf(ownApi.POST("/api/v1/markets/{id}/disputes", { params, body: { text } }));
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void command.give(send, onDone);
      }}
    >
      <div class="field">
        <label for={id}>What is wrong with this outcome?</label>
        <textarea
          id={id}
          name="text"
          rows={4}
          maxLength={2000}
          required
          value={text}
          aria-describedby={`${id}-hint`}
          onInput={(event) => {
            setText(event.currentTarget.value);
          }}
        />
        <p class="hint" id={`${id}-hint`}>
          You can dispute it once, until {formatDateTime(until)}. An operator reads it and answers
          here.
        </p>
      </div>
      <ProblemNotice problem={command.problem} />
      <Submit isBusy={command.isBusy}>Dispute the outcome</Submit>
    </form>
  );
}

interface Own {
  disputes: Dispute[];
  heldShares: boolean;
}

async function readOwn(marketId: string): Promise<Result<Own>> {
  const params = { query: { marketId } };
  const [disputes, positions] = await Promise.all([
    resultOf(ownApi.GET("/api/v1/me/disputes", { params })),
    resultOf(ownApi.GET("/api/account/positions", { params })),
  ]);
  if (!disputes.ok) return disputes;
  if (!positions.ok) return positions;
  return {
    ok: true,
    data: {
      disputes: disputes.data.data,
      heldShares: positions.data.settled.some(({ quantity }) => quantity > 0),
    },
  };
}
