import type { DueMail } from "../database/job_calls.ts";

/** A mail as people read it: plain text, which no mail program can be made to hide a link in. */
export interface Letter {
  to: string;
  subject: string;
  text: string;
}

interface Content {
  subject: string;
  lines: string[];
}

type Details = Record<string, unknown>;

/** The pages that links lead to. What stands behind the # never reaches a server's log. */
const pages = {
  confirm_email: "/confirm",
  password_reset: "/reset",
  recovery: "/reset",
  invitation: "/sign-up",
  staff_invitation: "/operator/welcome",
} as const;

const notYou = "If this was not you, change your password and end all sessions on the website.";

/** What each kind of mail says; those that have a link are given it. */
const contents: Record<string, (details: Details, link: string) => Content> = {
  confirm_email: (account, link) => ({
    subject: "Confirm your e-mail address",
    lines:
      typeof account.presentEmail === "string"
        ? [
            "A user of the website wants to use your e-mail address for this account from now on:",
            `${namesOf(account)}\nPresent address: ${plain(account.presentEmail)}`,
            "If it was you, open this link within three days and press the button. Use a browser in which you are signed in to that account, or give its password:",
            link,
            "If you did not ask for this, ignore this mail: the account does not get your address.",
          ]
        : [
            "Somebody made an account with your e-mail address.",
            namesOf(account),
            "If it was you, open this link within three days and press the button. Use the browser in which you signed up, or give the password that you chose there:",
            link,
            "If you did not sign up, ignore this mail: nobody gets an account with your address.",
          ],
  }),
  address_taken: () => ({
    subject: "You have an account already",
    lines: [
      "Your e-mail address was given for a new account. It has one already.",
      "If it was you, sign in, or ask for a new password. Otherwise ignore this mail.",
    ],
  }),
  password_reset: (account, link) => ({
    subject: "Set a new password",
    lines: [
      "Somebody asked for a new password of your account.",
      namesOf(account),
      "If it was you, open this link within one hour:",
      link,
      "All browsers are signed out then, and all passkeys and API keys end. You can keep them on that page with one of your passkeys.",
      "If you did not ask for this, ignore this mail: your password stays as it is.",
    ],
  }),
  recovery: (_details, link) => ({
    subject: "Your account was given back to you",
    lines: [
      "Our support has secured your account. All sessions, passkeys and API keys have ended, the password is not valid any more, and this is the account's e-mail address.",
      "Follow this link within three days to set a new password:",
      link,
      "If you do not have an account, ignore this mail.",
    ],
  }),
  invitation: (_details, link) => ({
    subject: "You are invited",
    lines: ["Follow this link within 14 days to make an account:", link],
  }),
  staff_invitation: (_details, link) => ({
    subject: "Your access to the exchange",
    lines: [
      "You are one of the staff of the exchange. Follow this link within three days to set a password and a passkey:",
      link,
      "Any password and passkey that you had before as staff are not valid any more.",
    ],
  }),
  new_sign_in: ({ browser, byLink, bySupport }) => ({
    subject: "New sign-in to your account",
    lines: [
      bySupport === true
        ? "Our support opened a session of your account."
        : byLink === true
          ? "A link of our support was used to sign in to your account."
          : "Your account was signed in to from a browser in which you had not signed in before.",
      // Numbers of versions keep their dots.
      `Browser: ${plain(browser).replaceAll(/[.\u2024\u3002\uff0e\uff61](?=\p{L})/gu, "$& ")}`,
      notYou,
    ],
  }),
  new_key: ({ name, rotated, ...powers }) => ({
    subject: "New API key",
    lines: [
      rotated === true
        ? `An API key was made for your account in the place of another: ${words(name)}`
        : `An API key was made for your account: ${words(name)}`,
      powersInWords(powers),
      "If this was not you, revoke it in your account, change your password and end all sessions.",
    ],
  }),
  passkey_added: ({ name }) => ({
    subject: "New passkey",
    lines: [
      `A passkey was added to your account, with which it can be signed in to: ${words(name)}`,
      "If this was not you, remove it in your account, change your password and end all sessions.",
    ],
  }),
  staff_passkey_added: ({ name }) => ({
    subject: "New passkey of your access to the exchange",
    lines: [
      `A passkey was added, with which you can sign in as staff: ${words(name)}`,
      "If this was not you, tell those who run the exchange at once. They can remove it, or invite you again.",
    ],
  }),
  passkey_removed: ({ name }) => ({
    subject: "A passkey was removed",
    lines: [`A passkey was removed from your account: ${words(name)}`, notYou],
  }),
  password_changed: ({ kept }) => ({
    subject: "Your password was changed",
    lines: [
      ...changedPassword(kept),
      "If this was not you, ask for a new password on the website at once.",
    ],
  }),
  email_change_asked: ({ email }) => ({
    subject: "A change of your e-mail address was asked for",
    lines: [
      `Another e-mail address of your account was asked for, with your password: ${plain(email)}`,
      "It is the account's once the link in a mail to that address is followed.",
      "If this was not you, change your password on the website, or ask there for a new one. Either stops the change, and ends all sessions.",
    ],
  }),
  email_changed: () => ({
    subject: "Your e-mail address was changed",
    lines: [
      "Your account has another e-mail address from now on. No more mail comes to this one.",
      "If this was not you, write to our support at once.",
    ],
  }),
  limits_changed: (details) => ({
    subject: "Your loss limits",
    lines: [
      "Your loss limits were set:",
      ...["day", "week", "month"].map((span) => `${span}: ${limitInWords(details[span])}`),
    ],
  }),
  self_excluded: ({ until }) => ({
    subject: "You excluded yourself from trading",
    lines: [
      typeof until === "string"
        ? `You excluded yourself from trading until ${until}. This cannot be shortened.`
        : "You excluded yourself from trading for good.",
      "Your open orders were cancelled. You can still sign in and see your account.",
    ],
  }),
  dispute_answered: ({ title }) => ({
    subject: "Your dispute was answered",
    lines: [
      `We answered what you wrote about the outcome of this market: ${words(title)}`,
      "The answer is on the page of the market.",
    ],
  }),
};

/** What the links of mails are made of. */
interface LinkParts {
  /** The address of the website, without a slash at the end. */
  siteUrl: string;
  /** What the link opens, if the mail has one. */
  token: string;
}

/** Writes the mail. */
export function compose(
  { kind, address, details }: DueMail,
  { siteUrl, token }: LinkParts,
): Letter {
  const write = contents[kind];
  if (write === undefined) throw new TypeError(`There is no mail of kind ${kind}`);
  const link = hasLink(kind) ? `${siteUrl}${pages[kind]}#${token}` : "";
  const { subject, lines } = write(JSON.parse(details) as Details, link);
  return { to: address, subject, text: `${lines.join("\n\n")}\n` };
}

function hasLink(kind: string): kind is keyof typeof pages {
  return Object.hasOwn(pages, kind);
}

/** How a password was changed: in the account (undefined), or by a link. */
function changedPassword(kept: unknown): string[] {
  const look = "look through them in your account.";
  if (kept === undefined) {
    return [
      "The password of your account was changed, and all other sessions have ended.",
      `Passkeys and API keys stay as they are: ${look}`,
    ];
  }
  return [
    "The password of your account was set by a link in a mail to you.",
    kept === true
      ? `A passkey was used to keep the sessions, passkeys and API keys: ${look}`
      : "All sessions, passkeys and API keys have ended, except for the session of that browser.",
  ];
}

function namesOf({ displayName, handle }: Details): string {
  return `Name: ${words(displayName)}\nHandle: ${words(handle)}`;
}

/**
 * What somebody else may have chosen: on one line, and without characters that hide or reorder what
 * is written around them. Mail programs may still make a link of what looks like a host: a name is
 * written by {@link words}.
 */
function plain(value: unknown): string {
  const text = typeof value === "string" ? value : "unknown";
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}<>]|https?:|www\./giu, " ").slice(0, 300);
}

/**
 * A name that somebody else may have chosen. With a space behind each dot, and between two slashes,
 * it has no host in it. Programs read some characters of other scripts as a dot or a slash.
 */
function words(value: unknown): string {
  return plain(value)
    .replaceAll(/[.\u2024\u3002\uff0e\uff61](?=\S)/g, "$& ")
    .replaceAll(/[/\\\uff0f](?=[/\\\uff0f])/g, "$& ");
}

/** What a new API key may do, until when and from where. */
function powersInWords({ scopes, expiresAt, allowedAddresses }: Details): string {
  const may = Array.isArray(scopes) ? scopes.join(" and ") : "read and trade";
  const until = typeof expiresAt === "string" ? `until ${expiresAt}` : "until it is revoked";
  const where = Array.isArray(allowedAddresses)
    ? `from ${allowedAddresses.join(", ")}`
    : "from everywhere";
  return `It may ${may}, ${until}, ${where}.`;
}

function limitInWords(limit: unknown): string {
  const { limitCents, pending } = limit as {
    limitCents: number | null;
    pending: { limitCents: number | null; at: string } | null;
  };
  const later = pending === null ? "" : `; from ${pending.at} ${amount(pending.limitCents)}`;
  return amount(limitCents) + later;
}

function amount(cents: number | null): string {
  return cents === null ? "no limit" : `${(cents / 100).toFixed(2)} EUR`;
}
