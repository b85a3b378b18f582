import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { account } from "../../api/account.ts";
import { adviceOn } from "../../api/advice.ts";
import { ownApi } from "../../api/client.ts";
import { convertShares, previewConversion, redeemShares } from "../../api/event_shares.ts";
import { ownVersion } from "../../api/own_changes.ts";
import { resultOf } from "../../api/result.ts";
import type { Problem } from "../../api/result.ts";
import { isSignedIn } from "../../api/session.ts";
import type { ConvertShares, EventOutcomes, ExchangedShares } from "../../api/types.ts";
import { formatCents, formatCount, formatShares, parseCount } from "../../format.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { ConfirmDialog } from "../confirm_dialog.tsx";
import { Fact } from "../fact.tsx";
import { Checkbox, Field } from "../field.tsx";
import { Notice } from "../notice.tsx";
import { Submit } from "../submit.tsx";
import { exchangeableOf, mostOf } from "./held_shares.ts";
import type { HeldOutcome } from "./held_shares.ts";

const PAUSE_AFTER_TYPING_MS = 300;

interface ExchangeProps {
  eventId: string;
  event: EventOutcomes;
}

/** Exchanges the user's shares of an exclusive event; nothing for a user who holds none. */
export function ExchangeShares(props: ExchangeProps): JSX.Element | null {
  return props.event.exclusive && isSignedIn.value ? <OwnShares {...props} /> : null;
}

function OwnShares({ eventId, event }: ExchangeProps): JSX.Element | null {
  const own = useAsked(() => resultOf(ownApi.GET("/api/account/positions")), [ownVersion.value]);
  const [done, setDone] = useState<string>();
  const { no, yesSets } = exchangeableOf(event, own.data?.positions ?? []);
  return (
    <>
      {done !== undefined && <Notice kind="good">{done}</Notice>}
      {yesSets > 0 && <Redeem eventId={eventId} quantity={yesSets} onDone={setDone} />}
      {/* Who excluded themselves may redeem, but not convert. */}
      {no.length > 0 && !account.value?.exclusion && (
        <Convert
          // Other shares are another form.
          key={no.map(({ marketId }) => marketId).join()}
          {...{ eventId, event, held: no }}
          onDone={setDone}
        />
      )}
    </>
  );
}

interface ConvertProps extends ExchangeProps {
  held: HeldOutcome[];
  onDone: (words: string) => void;
}

/** NO of some outcomes become YES of all others, and cash. */
function Convert({ eventId, event, held, onDone }: ConvertProps): JSX.Element {
  const [chosen, setChosen] = useState(() => held.map(({ marketId }) => marketId));
  const [typed, setTyped] = useState<string>();
  const named = held.filter(({ marketId }) => chosen.includes(marketId));
  const most = named.length === 0 ? 0 : mostOf(named);
  const text = typed ?? (most === 0 ? "" : String(most));
  const quantity = parseCount(text);
  const body =
    named.length > 0 && quantity !== undefined && quantity > 0
      ? { marketIds: named.map(({ marketId }) => marketId), quantity }
      : undefined;
  const { preview, asked, isAwaited, ask, close, forget } = useQuestion(eventId, body);
  return (
    <section class="panel" aria-labelledby="convert-title">
      <h2 id="convert-title">Convert NO shares</h2>
      <p class="muted">
        Exactly one outcome wins. NO shares of some outcomes are worth the same as YES shares of all
        others and €1.00 a share for each chosen outcome but one. There is no fee.
      </p>
      <form
        onSubmit={(submitted) => {
          submitted.preventDefault();
          ask();
        }}
        noValidate
        class="exchange-form"
      >
        <fieldset class="exchange-outcomes">
          <legend>NO shares of</legend>
          {held.map(({ marketId, name, quantity: owned }) => (
            <Checkbox
              key={marketId}
              label={`${name}: ${formatCount(owned)}`}
              isChecked={chosen.includes(marketId)}
              onChange={(isChecked) => {
                setChosen(
                  isChecked ? [...chosen, marketId] : chosen.filter((one) => one !== marketId),
                );
              }}
            />
          ))}
        </fieldset>
        <Field
          label="Shares of each"
          name="quantity"
          inputMode="numeric"
          value={text}
          onValue={setTyped}
          error={
            named.length > 0 && body === undefined ? "A whole number of shares, please." : undefined
          }
        />
        <div class="preview" aria-live="polite">
          {named.length === 0 ? (
            <p class="muted">Choose one outcome at least.</p>
          ) : body === undefined ? null : preview === undefined ? (
            <p class="muted">Working out what this does…</p>
          ) : preview.ok ? (
            <Figures answer={preview.data} body={body} event={event} />
          ) : (
            <p class="field-error">{wordsOf(preview.problem) ?? adviceOn(preview.problem).text}</p>
          )}
        </div>
        <Submit isBusy={isAwaited} disabled={body === undefined}>
          Convert
        </Submit>
      </form>
      {asked !== undefined && (
        <ConvertDialog
          {...{ eventId, event, asked }}
          onDone={(words) => {
            forget();
            setTyped(undefined);
            onDone(words);
          }}
          onClose={close}
        />
      )}
    </section>
  );
}

/** What a conversion would do, and the question whether to do it. */
function useQuestion(eventId: string, body: ConvertShares | undefined) {
  const bodyText = JSON.stringify(body);
  const [key, setKey] = useState(() => crypto.randomUUID());
  const [asked, setAsked] = useState<AskedConversion>();
  // For what the button was pressed before its preview was there.
  const [awaited, setAwaited] = useState<string>();
  const isAwaited = awaited !== undefined && awaited === bodyText;
  useEffect(() => {
    setKey(crypto.randomUUID());
    // Enter may be faster than this.
    setAwaited((text) => (text === bodyText ? text : undefined));
  }, [bodyText]);
  const preview = useConversion(eventId, body);
  const ask = (): void => {
    setAwaited(preview === undefined ? bodyText : undefined);
    // Why it is not known what the user would get stands above the button.
    if (body !== undefined && preview?.ok === true) setAsked({ body, answer: preview.data, key });
  };
  useEffect(() => {
    if (isAwaited && preview !== undefined) ask();
  }, [isAwaited, preview]);
  const close = (): void => {
    setAsked(undefined);
  };
  const forget = (): void => {
    close();
    setKey(crypto.randomUUID());
  };
  return { preview, asked, isAwaited, ask, close, forget };
}

/** What was asked about: it stays as it is when the shares change, so that its key stands for it. */
interface AskedConversion {
  body: ConvertShares;
  /** Of the preview. */
  answer: ExchangedShares;
  key: string;
}

interface ConvertDialogProps extends ExchangeProps {
  asked: AskedConversion;
  onDone: (words: string) => void;
  onClose: () => void;
}

function ConvertDialog(props: ConvertDialogProps): JSX.Element {
  const { eventId, event, asked, onDone, onClose } = props;
  const { body, answer, key } = asked;
  const command = useCommand();
  return (
    <ConfirmDialog
      title="Convert these shares?"
      action="Convert"
      command={command}
      words={wordsOf(command.problem)}
      onConfirm={() =>
        void command.give(
          () => convertShares(eventId, body, key),
          (given) => {
            onDone(`Converted: you got ${gainWords(given, body, event)}.`);
          },
        )
      }
      onClose={onClose}
    >
      {formatCount(body.quantity)} NO {ofEach(namesOf(body, event))} become{" "}
      {gainWords(answer, body, event)}. To have such shares again, you would have to buy them.
    </ConfirmDialog>
  );
}

/** What a conversion would answer now; undefined until that is known. */
function useConversion(eventId: string, body: ConvertShares | undefined) {
  const text = body === undefined ? "" : JSON.stringify(body);
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => {
      setSettled(text);
    }, PAUSE_AFTER_TYPING_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [text]);
  const asked = useAsked(async () => {
    const about = settled;
    const asks = about === "" ? undefined : (JSON.parse(about) as ConvertShares);
    const result = asks && (await previewConversion(eventId, asks));
    return { ok: true, data: { about, result } };
  }, [settled, ownVersion.value]);
  return asked.data?.about === text ? asked.data.result : undefined;
}

interface AnswerProps {
  answer: ExchangedShares;
  body: ConvertShares;
  event: EventOutcomes;
}

function Figures({ answer, body, event }: AnswerProps): JSX.Element {
  const others = othersOf(body, event);
  return (
    <dl class="figures">
      <Fact name="You give">
        {formatCount(body.quantity)} NO of {body.marketIds.length} {outcomesWord(body.marketIds)}
      </Fact>
      <Fact name="You get in cash">{formatCents(answer.cashCents)}</Fact>
      {others.length > 0 && (
        <Fact name={`You get of each of ${others.join(", ")}`}>
          {formatCount(body.quantity)} YES
        </Fact>
      )}
      <Fact name="Cash afterwards">{formatCents(answer.balance.total)}</Fact>
    </dl>
  );
}

const ofEach = (names: string[]): string =>
  names.length === 1 ? `of ${names.join()}` : `of each of ${names.join(", ")}`;

const outcomesWord = ({ length }: string[]): string => (length === 1 ? "outcome" : "outcomes");

/** The outcomes of which a conversion takes NO. */
function namesOf({ marketIds }: ConvertShares, { outcomes }: EventOutcomes): string[] {
  return outcomes
    .filter(({ marketId }) => marketIds.includes(marketId))
    .map(({ outcomeName }) => outcomeName);
}

/** The outcomes of which a conversion gives YES. */
function othersOf({ marketIds }: ConvertShares, { outcomes }: EventOutcomes): string[] {
  return outcomes
    .filter(({ marketId }) => !marketIds.includes(marketId))
    .map(({ outcomeName }) => outcomeName);
}

function gainWords(answer: ExchangedShares, body: ConvertShares, event: EventOutcomes): string {
  const others = othersOf(body, event);
  const shares = `${formatCount(body.quantity)} YES ${ofEach(others)}`;
  const cash = `${formatCents(answer.cashCents)} of cash`;
  if (others.length === 0) return cash;
  return answer.cashCents === 0 ? shares : `${cash} and ${shares}`;
}

interface RedeemProps {
  eventId: string;
  quantity: number;
  onDone: (words: string) => void;
}

/** One YES of each outcome pays 100 cents, whoever wins. */
function Redeem({ eventId, quantity, onDone }: RedeemProps): JSX.Element {
  const [asked, setAsked] = useState<{ quantity: number; key: string }>();
  const cash = formatCents(quantity * 100);
  return (
    <Notice kind="info">
      <p>
        You hold {formatShares(quantity)} of YES of every outcome. Together they pay {cash}{" "}
        whichever wins, and you can have that now, without a fee.
      </p>
      <button
        type="button"
        class="button button-small"
        onClick={() => {
          setAsked({ quantity, key: crypto.randomUUID() });
        }}
      >
        Redeem for cash
      </button>
      {asked !== undefined && (
        <RedeemDialog
          {...{ eventId, asked, onDone }}
          onClose={() => {
            setAsked(undefined);
          }}
        />
      )}
    </Notice>
  );
}

interface RedeemDialogProps {
  eventId: string;
  /** What was asked about: it stays as it is when the shares change, so that its key stands for it. */
  asked: { quantity: number; key: string };
  onDone: (words: string) => void;
  onClose: () => void;
}

function RedeemDialog({ eventId, asked, onDone, onClose }: RedeemDialogProps): JSX.Element {
  const { quantity, key } = asked;
  const command = useCommand();
  const cash = formatCents(quantity * 100);
  return (
    <ConfirmDialog
      title={`Redeem for ${cash}?`}
      action="Redeem for cash"
      command={command}
      words={wordsOf(command.problem)}
      onConfirm={() =>
        void command.give(
          () => redeemShares(eventId, quantity, key),
          ({ cashCents }) => {
            onClose();
            onDone(`Redeemed: you got ${formatCents(cashCents)} of cash.`);
          },
        )
      }
      onClose={onClose}
    >
      {formatCount(quantity)} YES of every outcome become {cash} of cash. To have such shares again,
      you would have to buy them.
    </ConfirmDialog>
  );
}

const words: Record<string, string> = {
  INSUFFICIENT_BALANCE:
    "You hold fewer shares than that, or open orders to sell hold some of them.",
  MARKET_NOT_OPEN: "All markets of the event must be open for this.",
};

/** In place of the usual words, which are about orders. */
function wordsOf(problem: Problem | undefined): string | undefined {
  return problem?.code === undefined ? undefined : words[problem.code];
}
