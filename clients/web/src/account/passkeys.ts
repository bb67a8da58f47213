/** Passkeys of this browser: what the service asks as JSON, what `navigator.credentials` takes, and its answer as JSON again. */
import { base64url, fromBase64url, type Document } from "towerhall-client";

import { explain } from "../app/explain";
import { accountText, type AccountKey } from "./speak";

/** Why this page can have no passkeys at all, or null. */
export function whyNone(): AccountKey | null {
  if (/^[\d.]+$|^\[/.test(location.hostname)) return "account.problem.address";
  if (!isSecureContext) return "account.problem.insecure";
  return "PublicKeyCredential" in window ? null : "account.problem.none";
}

/** Make a passkey. The person confirms it by what the device has for that. */
export async function makePasskey(options: Document): Promise<Document> {
  const user = options["user"] as { id: string };
  const publicKey = {
    ...options,
    challenge: bytes(options["challenge"]),
    user: { ...user, id: bytes(user.id) },
    excludeCredentials: listed(options["excludeCredentials"]),
  } as unknown as PublicKeyCredentialCreationOptions;
  const made = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential;
  const answer = made.response as AuthenticatorAttestationResponse;
  return written(made, { attestationObject: text(answer.attestationObject) });
}

/** Use a passkey of this service. */
export async function usePasskey(options: Document): Promise<Document> {
  const publicKey = {
    ...options,
    challenge: bytes(options["challenge"]),
    allowCredentials: listed(options["allowCredentials"]),
  } as unknown as PublicKeyCredentialRequestOptions;
  const found = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential;
  const answer = found.response as AuthenticatorAssertionResponse;
  return written(found, {
    authenticatorData: text(answer.authenticatorData),
    signature: text(answer.signature),
    ...(answer.userHandle ? { userHandle: text(answer.userHandle) } : {}),
  });
}

/** What went wrong, in words. Browsers name faults of passkeys by the names of exceptions. */
export function explainPasskey(error: unknown): string {
  if (!(error instanceof DOMException)) return explain(error);
  const known: Record<string, AccountKey> = {
    NotAllowedError: "account.problem.cancelled",
    AbortError: "account.problem.cancelled",
    InvalidStateError: "account.problem.known",
    SecurityError: "account.problem.site",
    NotSupportedError: "account.problem.device",
    ConstraintError: "account.problem.device",
  };
  const key = known[error.name];
  return key ? accountText(key) : explain(error);
}

function written(credential: PublicKeyCredential, response: Document): Document {
  const id = text(credential.rawId);
  return { id, rawId: id, type: credential.type, response: { ...response, clientDataJSON: text(credential.response.clientDataJSON) } };
}

function listed(credentials: unknown): { id: Uint8Array; type: "public-key" }[] {
  return ((credentials ?? []) as { id: string }[]).map(({ id }) => ({ id: bytes(id), type: "public-key" }));
}

function bytes(value: unknown): Uint8Array {
  return fromBase64url(String(value));
}

function text(data: ArrayBuffer): string {
  return base64url(new Uint8Array(data));
}
