import createClient from "openapi-fetch";
import type { Middleware } from "openapi-fetch";
import type { paths } from "../../client/schema.d.ts";
import { noteQuota } from "./quota.ts";
import { fetchAsUser, fetchAsVisitor } from "./session.ts";

/**
 * The two clients of our own API, typed by its OpenAPI document: one for what is public, and one
 * that asks as the signed-in user. What is public is read with the user's token, if there is one: it
 * counts for the user then, and not for all who share the address.
 */
const options = { baseUrl: location.origin, cache: "no-store" } as const;

export const publicApi = createClient<paths>({ ...options, fetch: fetchAsVisitor });

export const ownApi = createClient<paths>({ ...options, fetch: fetchAsUser });

const counting: Middleware = {
  onResponse: ({ response }) => {
    noteQuota(response.headers);
  },
};
publicApi.use(counting);
ownApi.use(counting);
