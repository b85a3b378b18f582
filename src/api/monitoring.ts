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
  auth: "none",
  rateLimit: "none",
  responses: {
    200: { description: "It lives.", schema: z.strictObject({ status: z.literal("ok") }) },
  },
  handler: () => ({ status: 200, body: { status: "ok" } }),
});

const readiness = route({
  method: "get",
  path: "/readyz",
  operationId: "getReadiness",
  tag: "Service",
  summary: "Whether orders can be carried out",
  auth: "none",
  rateLimit: "none",
  responses: {
    200: {
      description: "They can.",
      schema: z.strictObject({
        status: z.literal("ok"),
        warnings: z.array(z.string()).optional(),
      }),
    },
    503: {
      description: "They can't, and why.",
      schema: z.strictObject({ status: z.literal("unavailable"), reason: z.string() }),
    },
  },
  handler: async (_call, context) => {
    const reason = await context.readiness.check();
    if (reason !== undefined) return { status: 503, body: { status: "unavailable", reason } };
    const warnings = (await context.privilegeCheck.read()).map(({ name }) => name);
    return { status: 200, body: { status: "ok", ...(warnings.length > 0 && { warnings }) } };
  },
});

/** The configuration may give this an address of its own. */
export const metricsRoute = route({
  method: "get",
  path: "/metrics",
  operationId: "getMetrics",
  tag: "Service",
  summary: "Figures for monitoring",
  auth: "none",
  rateLimit: "none",
  responses: {
    200: { description: "For Prometheus.", contentType: Registry.PROMETHEUS_CONTENT_TYPE },
  },
  handler: (_call, { metrics }) => metrics.render(),
});

export const serviceRoutes = [health, readiness, metricsRoute];
