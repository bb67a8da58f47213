/** The legal bids, from the offers alone (FT 5). */
import type { Offer } from "towerhall-client";

export interface Calls {
  /** The least and the most that may be bid, or null. */
  bid: [least: number, most: number] | null;
  pass: boolean;
}

/** Null if there is nothing to call. */
export function callsOf(offers: readonly Offer[]): Calls | null {
  const bid = offers.find((offer) => offer.command === "bid")?.ranges?.["number"] ?? null;
  const pass = offers.some((offer) => offer.command === "pass");
  return bid || pass ? { bid, pass } : null;
}

export function mayBid(calls: Calls | null, number: number): boolean {
  return !!calls?.bid && calls.bid[0] <= number && number <= calls.bid[1];
}
