import { byUser, choice, count, flag, span, text, time } from "./parts.ts";
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
    byUser,
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

export const disputeWindow: View = {
  ...{ title: "Time for disputes", list: "allDisputeWindows", type: "DisputeWindow" },
  columns: [count("hours", "Hours after a resolution or a correction")],
  filters: [],
  order: "HOURS_DESC",
  empty: "Nothing is set.",
};

export const minimumAge: View = {
  ...{ title: "Minimum age", list: "allMinimumAges", type: "MinimumAge" },
  columns: [count("years", "Years")],
  filters: [],
  order: "YEARS_DESC",
  empty: "Nothing is set.",
};

export const health: View = {
  ...{ title: "State of the exchange", list: "allHealth", type: "Health" },
  columns: [
    { field: "item", label: "What", kind: "health", name: ["self", "what"] },
    flag("isGood", "Good"),
    count("rowCount", "How many"),
    count("mostRows", "Normal up to"),
    count("lateSeconds", "Seconds late"),
    count("mostSeconds", "Normal up to, seconds"),
  ],
  filters: [{ name: "good", label: "Good", kind: "flag", field: "isGood" }],
  order: "PLACE_ASC",
  empty: "Nothing is measured.",
};

export const processes: View = {
  ...{ title: "Servers and workers", list: "allProcesses", type: "Process" },
  columns: [
    text("kind", "Kind", true),
    text("host", "Machine", true),
    { field: "systemNumber", label: "Process", kind: "key" },
    text("version", "Version", true),
    flag("isSilent", "Silent"),
    count("silentSeconds", "Seconds since last heard", true),
    time("seenAt", "Last heard"),
    time("firstSeenAt", "First heard", true),
  ],
  filters: [
    choice("kind", "Kind", ["server", "worker"]),
    { name: "silent", label: "Silent", kind: "flag", field: "isSilent" },
  ],
  order: "KIND_ASC",
  empty: "No server and no worker has noted that it runs.",
};

export const jobs: View = {
  ...{ title: "Jobs of the worker", list: "allJobs", type: "Job" },
  columns: [
    text("job", "Job", true),
    time("lastRequestedAt", "Last requested", true),
    count("waitingCount", "Waiting", true),
    count("lateSeconds", "Seconds late", true),
    count("runningCount", "Running"),
    count("failedCount", "Failed", true),
    text("lastError", "Last error"),
  ],
  filters: [
    { name: "failed", label: "Failed", kind: "isSome", field: "failedCount" },
    { name: "late", label: "Late", kind: "isSome", field: "lateSeconds" },
  ],
  order: "JOB_ASC",
  empty: "No job was requested yet.",
};

export const blocks: View = {
  ...{ title: "Blocks of sealed history", list: "allBlocks", type: "Block" },
  columns: [
    { field: "block", label: "Block", kind: "key", isSorted: true },
    time("createdAt", "Made"),
    time("sealedThrough", "Sealed through"),
    count("rowCount", "Rows", true),
    text("hash", "Hash"),
    text("previousHash", "Hash of the block before"),
  ],
  filters: [
    { name: "block", label: "Block", kind: "key", field: "block" },
    { name: "hash", label: "Hash", kind: "equals", field: "hash" },
    ...span("createdAt"),
  ],
  order: "BLOCK_DESC",
  empty: "Nothing is sealed yet.",
};
