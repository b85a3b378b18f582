import { publicApi } from "./client.ts";
import { keepAnswers } from "./kept_answers.ts";
import { resultOf } from "./result.ts";
import type { Result } from "./result.ts";
import type { SignUpPolicy } from "./types.ts";

const policy = keepAnswers({ name: "sign-up", keptMs: 60_000, ask: askForPolicy });

/** Who may sign up, and what a new account gets. */
export async function readSignUp(): Promise<Result<SignUpPolicy>> {
  return await policy.read("all");
}

async function askForPolicy(): Promise<Result<SignUpPolicy>> {
  return await resultOf(publicApi.GET("/api/account/sign-up"));
}
