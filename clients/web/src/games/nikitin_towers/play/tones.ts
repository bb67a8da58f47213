/** Wood by number of cubes, in linear light: maple, beech, oak, cherry, alder, walnut. */
export type Tone = [red: number, green: number, blue: number];

export const TONES: [Tone, Tone, Tone, Tone, Tone, Tone] = [
  [0.86, 0.66, 0.4], [0.8, 0.54, 0.29], [0.7, 0.45, 0.2], [0.66, 0.31, 0.14], [0.78, 0.42, 0.15], [0.44, 0.22, 0.1],
];

/** The colour in a drawing, `bright` times as light. */
export function cssTone(size: number, bright = 1): string {
  const tone = TONES[Math.min(Math.max(size, 1), TONES.length) - 1] ?? TONES[0];
  const parts = tone.map((part) => Math.round(255 * Math.min(1, part * bright) ** (1 / 2.2)));
  return `rgb(${parts.join(" ")})`;
}
