import type { components, operations } from "../../client/schema.d.ts";

/** What the server sends, by the names that the pages use. */

type Schemas = components["schemas"];

export type Market = Schemas["Market"];
export type ListedMarket = Schemas["ListedMarket"];
export type ListedEvent = Schemas["Event"];
export type EventWithMarkets = Schemas["EventWithMarkets"];
export type EventOutcomes = Schemas["EventOutcomes"];
export type EventOutcome = Schemas["EventOutcome"];
export type ConvertShares = Schemas["ConvertShares"];
export type ExchangedShares = Schemas["ExchangedShares"];
export type Snapshot = Schemas["MarketSnapshot"];
export type MarketChange = Schemas["MarketChange"];
export type MarketStatus = Market["status"];
export type UserEvent = Schemas["UserEvent"];
export type Order = Schemas["Order"];
export type OwnPositions = Schemas["OwnPositions"];
export type OwnPosition = Schemas["OwnPosition"];
export type AccountDay = Schemas["AccountDay"];
export type ClosedPosition = Schemas["ClosedPosition"];
export type SettledPosition = Schemas["SettledPosition"];
export type MarketResolution = Schemas["MarketResolution"];
export type Dispute = Schemas["Dispute"];
export type StatementEntry = Schemas["StatementEntry"];
/** A trade of the user's that operators undid; of a market as a whole `tradeId` is null. */
export type UndoneTrade = Schemas["UndoneTrade"];
export type YearStatement = Schemas["YearStatement"];
export type SignUpPolicy = Schemas["SignUpPolicy"];
export type OwnProfile = Schemas["OwnProfile"];
export type RealityCheck = Schemas["RealityCheck"];
export type LossLimit = Schemas["LossLimit"];
export type ApiKey = Schemas["ApiKey"];
/** With its secret. */
export type MadeKey = operations["createKey"]["responses"][201]["content"]["application/json"];
export type Session = Schemas["Session"];
export type MailLink = Schemas["Link"];
export type WaysIn = Schemas["WaysIn"];
export type OwnProof = Schemas["OwnProof"];
export type Passkey = Schemas["Passkey"];
export type LeaderboardEntry = Schemas["LeaderboardEntry"];
export type PlaceOrder = Schemas["PlaceOrder"];
export type Preview = operations["previewOrder"]["responses"][200]["content"]["application/json"];
export type PlacedOrder = operations["placeOrder"]["responses"][201]["content"]["application/json"];
export type AmendedOrder =
  operations["amendOrder"]["responses"][200]["content"]["application/json"];
export type OrderDetail = Schemas["OrderDetail"];
export type EventHeading = Schemas["EventHeading"];
export type MarketRules = Schemas["MarketRules"];
export type StaffSession = Schemas["StaffSession"];
export type StaffInvitation =
  operations["getStaffInvitation"]["responses"][200]["content"]["application/json"];

type JsonBodyOf<Name extends "addPasskey" | "signInByPasskey"> =
  operations[Name]["requestBody"]["content"]["application/json"];

/** What the browser gives for a new passkey, and for a sign-in. */
export type NewPasskey = JsonBodyOf<"addPasskey">["credential"];
export type PasskeySignature = JsonBodyOf<"signInByPasskey">["credential"];

export type Side = "yes" | "no";
