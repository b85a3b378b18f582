import createClient from "openapi-fetch";
import type { paths } from "../../client/schema.d.ts";
import { fetchAsUser } from "./session.ts";

/**
 * The two clients of our own API, typed by its OpenAPI document: one for what is public,
 * and one that asks as the signed-in user.
 */
const options = { baseUrl: location.origin, cache: "no-store" } as const;

export const publicApi = createClient<paths>(options);

export const ownApi = createClient<paths>({ ...options, fetch: fetchAsUser });
