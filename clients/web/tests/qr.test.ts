import { describe, expect, it } from "vitest";

import { codewords, versionFor } from "../src/ui/qr/codewords";
import { repairWords } from "../src/ui/qr/galois";
import { qrMatrix, qrPath } from "../src/ui/qr";
import { formatBits, penaltyOf, versionBits } from "../src/ui/qr/matrix";
import known from "./qr_codes.json";

describe("a QR code", () => {
  it.each(known)("of $text.length characters is the one that another program draws", ({ text, version, mask, rows }) => {
    const bytes = new TextEncoder().encode(text);
    expect(versionFor(bytes.length)).toBe(version);
    const drawn = qrMatrix(text, mask)!.map((row) => row.map((dark) => (dark ? "1" : "0")).join(""));
    expect(drawn).toEqual(rows);
  });

  it.each(known)("of $text.length characters gets the mask that is easiest to read", ({ text }) => {
    const penalties = [0, 1, 2, 3, 4, 5, 6, 7].map((mask) => penaltyOf(qrMatrix(text, mask)!));
    expect(penaltyOf(qrMatrix(text)!)).toBe(Math.min(...penalties));
    expect(new Set(penalties).size).toBeGreaterThan(1);
  });

  it("has the repair words of the well-known example", () => {
    const data = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17];
    expect(repairWords(data, 10)).toEqual([196, 35, 39, 119, 235, 215, 231, 226, 93, 23]);
  });

  it("tells its mask and version as the standard lists them", () => {
    expect(formatBits(0).toString(2)).toBe("101010000010010");
    expect(formatBits(5).toString(2)).toBe("100000011001110");
    expect(versionBits(7).toString(2).padStart(18, "0")).toBe("000111110010010100");
  });

  it("is not drawn for a text that is too long", () => {
    expect(qrMatrix("x".repeat(213))).not.toBeNull();
    expect(qrMatrix("x".repeat(214))).toBeNull();
  });

  it("fills every word of the largest version", () => {
    expect(codewords(new Uint8Array(213), 10)).toHaveLength(346);
  });

  it("becomes one square for each dark module", () => {
    const matrix = qrMatrix("HI")!;
    expect(qrPath(matrix).match(/M/g)).toHaveLength(matrix.flat().filter(Boolean).length);
  });
});
