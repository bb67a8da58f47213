/** Texts of a picture: how large they may be, and where they are cut. Pure but for the measure. */
export const WIDTH = 1200;
export const HEIGHT = 630;
/** Fonts that devices have. */
export const SERIF = "Iowan Old Style, Palatino Linotype, Palatino, URW Palladio L, Book Antiqua, Georgia, serif";

/** The width of a text at a font size. */
export type Measure = (text: string, size: number) => number;

export interface Fitted {
  text: string;
  size: number;
}

/** No document holds these characters, and names come from anybody. */
const UNFIT = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** The text at the largest size that fits, cut if it is too long at the smallest one. */
export function fitted(given: string, width: number, most: number, least: number, measure: Measure): Fitted {
  const text = given.replace(UNFIT, "\u{fffd}");
  for (let size = most; size >= least; size -= 1) if (measure(text, size) <= width) return { text, size };
  const letters = lettersOf(text);
  let kept = letters.length;
  while (kept > 1 && measure(`${letters.slice(0, kept).join("")}…`, least) > width) kept -= 1;
  return { text: `${letters.slice(0, kept).join("").trimEnd()}…`, size: least };
}

export interface FittedLines {
  lines: string[];
  size: number;
}

/** A name in one line, or in two smaller ones if it would be cut or hard to read. */
export function fittedName(name: string, width: number, measure: Measure): FittedLines {
  const [most, small, least] = [32, 22, 17];
  const one = fitted(name, width, most, small, measure);
  if (!one.text.endsWith("…")) return { lines: [one.text], size: one.size };
  const parts = halves(name);
  const sizes = parts.map((part) => fitted(part, width, small, least, measure).size);
  const size = Math.min(...sizes);
  return { lines: parts.map((part) => fitted(part, width, size, size, measure).text), size };
}

/** A text in two parts: at the space or behind the hyphen that is nearest to the middle, else in the middle. */
function halves(text: string): string[] {
  const letters = lettersOf(text);
  const middle = letters.length / 2;
  const distance = (at: number) => Math.abs(at - middle);
  const breaks = letters.flatMap((letter, at) => (letter === " " || letter === "-" ? [at + 1] : []));
  const at = breaks.sort((one, other) => distance(one) - distance(other))[0] ?? Math.ceil(middle);
  return [letters.slice(0, at).join("").trim(), letters.slice(at).join("").trim()].filter(Boolean);
}

function lettersOf(text: string): string[] {
  return [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
}
