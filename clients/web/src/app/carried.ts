/**
 * Keys of private rooms in a link to oneself (P-149). They stand in the fragment, which browsers never send. Without them the other
 * device has the seat, and cannot invite people to the room.
 */
import { isCode } from "./routes";

/** Bytes that a QR code of the page can hold. */
const MOST_BYTES = 213;

/** The link with as many keys as fit, the first ones first. */
export function withKeys(link: string, keys: readonly (readonly [code: string, key: string])[]): string {
  let carried = link;
  for (const [code, key] of keys) {
    const longer = `${carried}${carried === link ? "?keys=" : ","}${code}.${encodeURIComponent(key)}`;
    if (new TextEncoder().encode(longer).length > MOST_BYTES) break;
    carried = longer;
  }
  return carried;
}

/** The keys in the fragment of such a link. */
export function keysIn(hash: string): (readonly [code: string, key: string])[] {
  const pairs = new URLSearchParams(hash.split("?")[1] ?? "").get("keys")?.split(",") ?? [];
  return pairs.flatMap((pair) => {
    const [code = "", key = ""] = pair.split(".", 2);
    return isCode(code) && key ? [[code, key] as const] : [];
  });
}
