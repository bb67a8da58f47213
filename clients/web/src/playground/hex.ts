/** Bytes as people read them: sixteen in a line, with their place before and their letters behind. */

const IN_A_LINE = 16;

export function hexDump(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += IN_A_LINE) {
    const part = [...bytes.subarray(at, at + IN_A_LINE)];
    const hex = part.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = part.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·")).join("");
    lines.push(`${at.toString(16).padStart(4, "0")}  ${hex.padEnd(3 * IN_A_LINE - 1)}  ${text}`);
  }
  return lines.join("\n");
}
