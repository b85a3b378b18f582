import { Registry } from "prom-client";
import { z } from "zod";
import { route } from "./route.ts";

/** Health, readiness and metrics of the service. */

const health = route({
  method: "get",
  path: "/healthz",
  operationId: "getHealth",
  tag: "Service",
  summary: "Whether the process lives",
  description: "It does not ask the database.",
  auth: "none",
  rateLimit: "none",
  responses: {
    200: { description: "The process lives.", schema: z.strictObject({ status: z.literal("ok") }) },
  },
  handler: () => ({ status: 200, body: { status: "ok" } }),
});

const reasons =
  "`database_unreachable`: no connection, or no answer. `read_only`: the database is a standby. " +
  "`migrations_missing`: it lacks a migration or the functions of this version; later ones are no " +
  "reason. `migrations_unknown`: it is so much later that it lacks a function which this version " +
  "calls. " +
  "`server_version`: it is not PostgreSQL 15 to 18. `encoding`: it is not UTF8. " +
  "`session_settings`: a setting of its sessions is not fit. `prepared_statements`: a pooler loses " +
  "them. `sequences_behind`: a sequence would give out ids again, as on a copy by logical " +
  "replication. `commits_wait`: for 30 s no commit was confirmed, as when no synchronous standby is " +
  "left. `starting`: the server has not looked yet. A worker has `jobs_fail` too.";

const readiness = route({
  method: "get",
  path: "/readyz",
  operationId: "getReadiness",
  tag: "Service",
  summary: "Whether orders can be carried out",
  description: "For load balancers. It asks the database at most twice a second.",
  auth: "none",
  rateLimit: "none",
  responses: {
    200: {
      description: "Orders can be executed.",
      schema: z.strictObject({
        status: z.literal("ok"),
        warnings: z.array(z.string()).optional().meta({
          description: "rights in the database that too many logins have",
        }),
        standbys: z
          .array(
            z.strictObject({
              status: z.enum(["in use", "behind", "away", "not of this primary"]),
              behindBytes: z.int().min(0).nullable(),
            }),
          )
          .optional()
          .meta({
            description:
              "those of READ_DATABASE_URL, in its order, with the WAL that each has not replayed; reads go to the primary while none is in use",
          }),
      }),
    },
    503: {
      description: "Orders cannot be executed, and the reason.",
      schema: z.strictObject({
        status: z.literal("unavailable"),
        reason: z.string().meta({ description: reasons }),
      }),
    },
  },
  handler: async (_call, context) => {
    const reason = await context.readiness.check();
    if (reason !== undefined) return { status: 503, body: { status: "unavailable", reason } };
    const warnings = (await context.privilegeCheck.read()).map(({ name }) => name);
    const standbys = context.standbys?.figures().map(({ status, behindBytes = null }) => ({
      status,
      behindBytes,
    }));
    return {
      status: 200,
      body: {
        status: "ok",
        ...(warnings.length > 0 && { warnings }),
        ...(standbys && { standbys }),
      },
    };
  },
});

/** The configuration may give this an address of its own. */
export const metricsRoute = route({
  method: "get",
  path: "/metrics",
  operationId: "getMetrics",
  tag: "Service",
  summary: "Figures for monitoring",
  description: "For the addresses that the configuration names; 404 for others.",
  auth: "none",
  rateLimit: "none",
  responses: {
    200: { description: "For Prometheus.", contentType: Registry.PROMETHEUS_CONTENT_TYPE },
  },
  handler: (_call, { metrics }) => metrics.render(),
});

export const serviceRoutes = [health, readiness, metricsRoute];
