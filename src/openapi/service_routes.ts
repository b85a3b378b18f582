import { z } from "zod";
import type { Route } from "./route.ts";

const healthSchema = z.strictObject({ status: z.literal("ok") });
const readinessSchema = z.strictObject({
  status: z.literal("ok"),
  warnings: z.array(z.string()).optional(),
});

/** What the service tells of itself. */
export const serviceRoutes: Route[] = [
  {
    method: "get",
    path: "/healthz",
    operationId: "getHealth",
    tag: "Service",
    summary: "Whether the process lives",
    auth: "none",
    answers: [{ status: 200, description: "It lives.", schema: healthSchema }],
  },
  {
    method: "get",
    path: "/readyz",
    operationId: "getReadiness",
    tag: "Service",
    summary: "Whether orders can be carried out",
    auth: "none",
    answers: [
      { status: 200, description: "They can.", schema: readinessSchema },
      {
        status: 503,
        description: "They can't, and why.",
        schema: z.strictObject({ status: z.literal("unavailable"), reason: z.string() }),
      },
    ],
  },
  {
    method: "get",
    path: "/metrics",
    operationId: "getMetrics",
    tag: "Service",
    summary: "Figures for monitoring",
    auth: "none",
    answers: [{ status: 200, description: "For Prometheus.", contentType: "text/plain" }],
  },
  {
    method: "get",
    path: "/openapi.json",
    operationId: "getOpenApi",
    tag: "Service",
    summary: "This document",
    auth: "none",
    answers: [
      {
        status: 200,
        description: "OpenAPI 3.1.",
        schema: z.looseObject({ openapi: z.string() }),
        headers: ["Cache-Control"],
      },
    ],
  },
  {
    method: "get",
    path: "/docs",
    operationId: "getDocs",
    tag: "Service",
    summary: "This document as a page to browse",
    auth: "none",
    answers: [{ status: 200, description: "The page.", contentType: "text/html" }],
  },
];
