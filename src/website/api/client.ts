import createClient from "openapi-fetch";
import type { Middleware } from "openapi-fetch";
import type { paths } from "../../client/schema.d.ts";
import { noteQuota } from "./quota.ts";
import { noteServerTime } from "./server_time.ts";
import { fetchAsUser, fetchAsVisitor } from "./session.ts";

/**
 * The two clients of our own API, typed by its OpenAPI document: one for what is public, and one
 * that asks as the signed-in user. What is public is read with the user's token, if there is one: it
 * counts for the user then, and not for all who share the address.
 */
const baseUrl = location.origin;

// The browser keeps public answers with their ETag, and asks each time whether they have changed.
export const publicApi = createClient<paths>({ baseUrl, cache: "no-cache", fetch: fetchAsVisitor });

export const ownApi = createClient<paths>({ baseUrl, cache: "no-store", fetch: fetchAsUser });

const counting: Middleware = {
  onResponse: ({ response }) => {
    noteQuota(response.headers);
    noteServerTime(response.headers);
  },
};
publicApi.use(counting);
ownApi.use(counting);
