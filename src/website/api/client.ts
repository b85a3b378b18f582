import createClient from "openapi-fetch";
import type { LaterPaths } from "./later_paths.ts";
import type { paths } from "./schema.d.ts";
import { fetchAsUser } from "./session.ts";

/**
 * The two clients of our own API, typed by its OpenAPI document: one for what everybody may ask,
 * and one that asks as the signed-in user.
 */
type Paths = paths & LaterPaths;

const options = { baseUrl: location.origin, cache: "no-store" } as const;

export const publicApi = createClient<Paths>(options);

export const ownApi = createClient<Paths>({ ...options, fetch: fetchAsUser });
