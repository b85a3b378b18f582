import { z } from "zod";
import { isLikeAccount } from "../accounts/common_passwords.ts";
import { hashPassword, newSettings } from "../accounts/passwords.ts";
import { invalidRequest, ProblemError, rejection, rejections } from "../http/problems.ts";
import { lineSchema, linkTokenSchema, newPasswordSchema } from "./account_schemas.ts";
import { found } from "./common.ts";
import { staffSessionAnswer, staffSchema } from "./operator_access.ts";
import {
  attestationSchema,
  creationOptions,
  creationOptionsSchema,
  handleOf,
  newPasskeyOf,
} from "./passkey_ceremonies.ts";
import type { KnownPasskey } from "./passkey_ceremonies.ts";
import { route } from "./route.ts";
import { browserOf, setsCookie, signInToSee } from "./sign_in.ts";
import { countLink, hashOfLink } from "./sign_in_attempts.ts";

/** What members of staff sign in with: set by an invitation, and further passkeys. */

const invalidPasskey = rejection("INVALID_PASSKEY");
const likeAccount = invalidRequest([
  { path: "password", message: "has little besides your e-mail address or name" },
]);

/** Whom a link invites, as the database says it. */
interface Invited {
  staffId: string;
  email: string;
  name: string;
}

const invitation = route({
  method: "post",
  path: "/api/operator/invitation",
  operationId: "getStaffInvitation",
  tag: "Operator",
  summary: "Whom the link of an invitation is for",
  description:
    "For the page of the link, which stays good. `options` is for `navigator.credentials.create()`; " +
    "its challenge is good once, for five minutes.",
  auth: "none",
  rateLimit: "account",
  request: { body: z.object({ token: linkTokenSchema }) },
  responses: {
    200: {
      description: "The invitation.",
      schema: z.strictObject({
        email: z.string(),
        name: z.string(),
        options: creationOptionsSchema,
      }),
    },
  },
  problems: rejections("INVALID_LINK"),
  handler: async ({ body: { token }, request }, { commands, reads, site }) => {
    const link = await reads.getStaffLink({ tokenHash: hashOfLink(token) });
    const { staffId, email, name } = JSON.parse(link) as Invited;
    const challenge = await commands.startPasskeySignIn();
    const user = { id: handleOf(staffId), name: email, displayName: name };
    const options = creationOptions(
      { origin: site.originFor(request) },
      { challenge, user, known: [] },
    );
    return { status: 200, body: { email, name, options } };
  },
});

const acceptInvitation = route({
  method: "post",
  path: "/api/operator/invitation/accept",
  operationId: "acceptStaffInvitation",
  tag: "Operator",
  summary: "Sets the password and the first passkey by the link of an invitation, and signs in",
  description:
    "`credential` is the JSON of what `navigator.credentials.create()` gave. What gave the member " +
    "of staff access before ends.",
  auth: "none",
  rateLimit: "account",
  whenOutcomeUnknown: signInToSee,
  request: {
    body: z.object({
      token: linkTokenSchema,
      password: newPasswordSchema,
      passkeyName: lineSchema(100),
      credential: attestationSchema,
    }),
  },
  responses: { 201: { description: "A session.", schema: staffSchema, headers: setsCookie } },
  problems: rejections("INVALID_LINK", "INVALID_PASSKEY", "ALREADY_EXISTS"),
  handler: async ({ body, address, request, response }, context) => {
    const { token, password, passkeyName, credential } = body;
    const { commands, reads, site } = context;
    const counted = { address, response };
    const tokenHash = await countLink(token, counted, context, reads.getStaffLink);
    const { email, name } = JSON.parse(await reads.getStaffLink({ tokenHash })) as Invited;
    if (isLikeAccount(password, { email, handle: name })) throw new ProblemError(likeAccount);
    const passkey = found(await newPasskeyOf(credential, request, { site }), invalidPasskey);
    const passwordHash = await hashPassword(password, newSettings(), { isKnown: true });
    const { browser, address: from } = browserOf(request, context);
    const { cookie } = await commands.acceptStaffInvitation({
      ...{ tokenHash, passwordHash, ...passkey, passkeyName },
      ...{ browser, address: from },
    });
    const answer = await staffSessionAnswer(cookie, request, context, rejection("INVALID_LINK"));
    return { status: 201, ...answer };
  },
});

const startPasskey = route({
  method: "post",
  path: "/api/operator/passkeys/options",
  operationId: "startStaffPasskey",
  tag: "Operator",
  summary: "Begins to add a passkey",
  description:
    "The answer is for `navigator.credentials.create()`. Its challenge is good once, for five " +
    "minutes. The session must have begun within the last ten minutes.",
  auth: "staff",
  rateLimit: "account",
  responses: {
    200: { description: "What to ask the browser for.", schema: creationOptionsSchema },
  },
  problems: rejections("SIGN_IN_AGAIN"),
  handler: async ({ caller, request }, { commands, site }) => {
    const { staffId, sessionId, email, name } = caller;
    const { challenge, known } = await commands.startStaffPasskey({ sessionId });
    const options = {
      challenge,
      user: { id: handleOf(staffId), name: email, displayName: name },
      known: JSON.parse(known) as KnownPasskey[],
    };
    return { status: 200, body: creationOptions({ origin: site.originFor(request) }, options) };
  },
});

const addPasskey = route({
  method: "post",
  path: "/api/operator/passkeys",
  operationId: "addStaffPasskey",
  tag: "Operator",
  summary: "Adds a passkey",
  description:
    "`credential` is the JSON of what `navigator.credentials.create()` gave. A member of staff has " +
    "at most 20 passkeys. The session must still have begun within the last ten minutes.",
  auth: "staff",
  rateLimit: "account",
  whenOutcomeUnknown: "sign in with it to see",
  request: { body: z.object({ name: lineSchema(100), credential: attestationSchema }) },
  responses: {
    201: { description: "The passkey.", schema: z.strictObject({ name: z.string() }) },
  },
  problems: rejections("INVALID_PASSKEY", "SIGN_IN_AGAIN", "INVALID_STATE", "ALREADY_EXISTS"),
  handler: async ({ body, caller: { sessionId }, request }, { commands, site }) => {
    const { name, credential } = body;
    const passkey = found(await newPasskeyOf(credential, request, { site }), invalidPasskey);
    await commands.addStaffPasskey({ sessionId, name, ...passkey });
    return { status: 201, body: { name } };
  },
});

export const operatorCredentialRoutes = [invitation, acceptInvitation, startPasskey, addPasskey];
