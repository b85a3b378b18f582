import { choice, count, span, text, time } from "./parts.ts";
import type { View } from "./view.ts";

/** What keeps the exchange in order: approvals, the audit, verifications and settings. */

export const proposals: View = {
  ...{ title: "Proposals", list: "allProposals", type: "Proposal" },
  columns: [
    { field: "proposalId", label: "Proposal", kind: "proposal", name: ["self", "command"] },
    text("status", "Status"),
    text("proposedBy", "Proposed by"),
    time("proposedAt", "Proposed", true),
    time("expiresAt", "Expires", true),
    text("approverRole", "Role to approve"),
    text("reason", "Reason"),
    text("decidedBy", "Decided by"),
    time("decidedAt", "Decided", true),
    text("rejection", "Why rejected"),
    { field: "arguments", label: "Arguments", kind: "json" },
  ],
  filters: [
    choice("status", "Status", ["open", "approved", "rejected", "expired"]),
    { name: "command", label: "Command", kind: "equals", field: "command" },
    { name: "by", label: "Proposed by", kind: "contains", field: "proposedBy" },
  ],
  order: "PROPOSAL_KEY_DESC",
  empty: "No proposals.",
};

export const approvalRules: View = {
  ...{ title: "Approval rules", list: "allApprovalRules", type: "ApprovalRule" },
  columns: [
    text("command", "Command", true),
    text("role", "Role of who approves"),
    { field: "fromCents", label: "From", kind: "cents" },
  ],
  filters: [],
  order: "COMMAND_ASC",
  empty: "No rules. Only the end of a self-exclusion needs another member of staff.",
};

export const auditEntries: View = {
  ...{ title: "Audit", list: "allAuditEntries", type: "AuditEntry" },
  columns: [
    time("calledAt", "When"),
    text("staffName", "Member"),
    text("action", "Command"),
    { field: "userId", label: "User", kind: "user" },
    { field: "marketId", label: "Market", kind: "market" },
    { field: "arguments", label: "Arguments", kind: "json" },
    { field: "proposalId", label: "Proposal", kind: "proposal" },
    text("operator", "Login"),
    text("staffKey", "Key"),
    { field: "auditKey", label: "Number", kind: "key" },
  ],
  filters: [
    { name: "action", label: "Command", kind: "equals", field: "action" },
    { name: "member", label: "Name of the member", kind: "contains", field: "staffName" },
    { name: "user", label: "Id of the user", kind: "uuid", field: "userId" },
    { name: "market", label: "Id of the market", kind: "uuid", field: "marketId" },
    { name: "proposal", label: "Id of the proposal", kind: "uuid", field: "proposalId" },
    ...span("calledAt"),
  ],
  order: "AUDIT_KEY_DESC",
  empty: "No calls.",
};

export const verifications: View = {
  ...{ title: "Verifications", list: "allVerifications", type: "Verification" },
  columns: [
    time("startedAt", "Began"),
    time("finishedAt", "Ended"),
    count("brokenCount", "Differences", true),
    { field: "firstRows", label: "The first of them", kind: "json" },
    { field: "verificationKey", label: "Number", kind: "key" },
  ],
  filters: [...span("startedAt")],
  order: "VERIFICATION_KEY_DESC",
  empty: "The ledger was not verified yet. The worker does it each night.",
};

export const rateLimits: View = {
  ...{ title: "Rate limits", list: "allRateLimits", type: "RateLimit" },
  columns: [
    text("bucket", "Limit", true),
    count("maxRequests", "Requests"),
    count("windowSeconds", "In seconds"),
  ],
  filters: [],
  order: "BUCKET_ASC",
  empty: "No limits.",
};

export const streamCaps: View = {
  ...{ title: "Caps of streams", list: "allStreamCaps", type: "StreamCap" },
  columns: [text("holder", "For each", true), count("maxStreams", "Streams at most")],
  filters: [],
  order: "HOLDER_ASC",
  empty: "No caps.",
};

export const signUp: View = {
  ...{ title: "Sign-up", list: "allSignUps", type: "SignUp" },
  columns: [
    text("policy", "Who may"),
    { field: "playMoneyCents", label: "Play money", kind: "cents" },
    time("changedAt", "Since"),
  ],
  filters: [],
  order: "CHANGED_AT_DESC",
  empty: "Nothing is set.",
};

export const tradingPause: View = {
  ...{ title: "Pause of the exchange", list: "allTradingPauses", type: "TradingPause" },
  columns: [
    { field: "isPaused", label: "Paused", kind: "flag" },
    text("reason", "Reason"),
    time("pausedAt", "Since"),
  ],
  filters: [],
  order: "PAUSED_AT_DESC",
  empty: "Nothing is set.",
};
