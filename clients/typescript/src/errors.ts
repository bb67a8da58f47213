import type { Params } from "./types.ts";

/** The data is not a message; `code` is the stable reason (P-102). */
export class CodecError extends Error {
  constructor(
    readonly code: string,
    readonly detail: string,
  ) {
    super(`${code}: ${detail}`);
    this.name = "CodecError";
  }
}

/** A refusal of the service, or a failure on the way (`unreachable`, `bad_answer`, `bad_record`). */
export class ServiceError extends Error {
  constructor(
    readonly code: string,
    readonly hint = "",
    /** Status of the HTTP answer; 0 without an answer. */
    readonly status = 0,
    readonly params: Params = {},
  ) {
    super(hint ? `${code}: ${hint}` : code);
    this.name = "ServiceError";
  }

  /** The delay before a retry, if the service gave one. */
  get retryMs(): number | undefined {
    const wait = this.params["retry_ms"];
    return typeof wait === "number" ? wait : undefined;
  }
}

interface Close {
  name: string;
  /** Whether a client comes back by itself. */
  again: boolean;
  /** Whether it makes sense that a person asks to come back, with the same token to the same room. */
  byHand: boolean;
}

const CLOSES: Record<number, Close> = {
  1000: { name: "done", again: false, byHand: false },
  1001: { name: "going_away", again: true, byHand: true },
  1007: { name: "malformed_message", again: false, byHand: true },
  1009: { name: "message_too_large", again: false, byHand: true },
  1011: { name: "server_fault", again: true, byHand: true },
  1012: { name: "restart", again: true, byHand: true },
  1013: { name: "busy", again: true, byHand: true },
  4400: { name: "bad_message", again: false, byHand: true },
  4401: { name: "unauthorized", again: false, byHand: false },
  4403: { name: "forbidden", again: false, byHand: false },
  4404: { name: "room_gone", again: false, byHand: false },
  4405: { name: "banned", again: false, byHand: false },
  4406: { name: "kicked", again: false, byHand: true },
  4408: { name: "hello_late", again: true, byHand: true },
  4409: { name: "replaced", again: false, byHand: true },
  4410: { name: "level_too_old", again: false, byHand: false },
  4413: { name: "too_slow", again: true, byHand: true },
  4429: { name: "too_many", again: true, byHand: true },
  4503: { name: "store_unavailable", again: true, byHand: true },
};

/** The meanings of closes (P-101); an unlisted number counts as temporary. */
export function closeOf(number: number): Close {
  return CLOSES[number] ?? { name: "going_away", again: true, byHand: true };
}
