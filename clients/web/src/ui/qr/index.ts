/** QR codes for links: byte mode, repair level M, up to 213 bytes. */
import { codewords, versionFor } from "./codewords";
import { drawMatrix, type Matrix } from "./matrix";

export type { Matrix } from "./matrix";

/** The code of a text, or null if the text is too long for it. */
export function qrMatrix(text: string, mask?: number): Matrix | null {
  const bytes = new TextEncoder().encode(text);
  const version = versionFor(bytes.length);
  return version === null ? null : drawMatrix(codewords(bytes, version), version, mask);
}

/** The dark modules as one path of an SVG, one unit each. */
export function qrPath(matrix: Matrix): string {
  return matrix.flatMap((row, y) => row.flatMap((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : []))).join("");
}
