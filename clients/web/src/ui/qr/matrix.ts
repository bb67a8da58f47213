/** The modules of a QR code: fixed patterns, data, mask, and format information. */

export type Matrix = readonly (readonly boolean[])[];

const CENTRES: readonly (readonly number[])[] = [
  [], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50],
];

const MASKS: readonly ((row: number, column: number) => boolean)[] = [
  (r, c) => (r + c) % 2 === 0,
  (r) => r % 2 === 0,
  (_, c) => c % 3 === 0,
  (r, c) => (r + c) % 3 === 0,
  (r, c) => (Math.floor(r / 2) + Math.floor(c / 3)) % 2 === 0,
  (r, c) => ((r * c) % 2) + ((r * c) % 3) === 0,
  (r, c) => (((r * c) % 2) + ((r * c) % 3)) % 2 === 0,
  (r, c) => (((r + c) % 2) + ((r * c) % 3)) % 2 === 0,
];

class Sheet {
  readonly size: number;
  readonly dark: boolean[][];
  readonly #fixed: boolean[][];

  constructor(readonly version: number) {
    this.size = 17 + 4 * version;
    const empty = () => Array.from({ length: this.size }, () => new Array<boolean>(this.size).fill(false));
    this.dark = empty();
    this.#fixed = empty();
    this.#drawFixed();
  }

  isFixed(row: number, column: number): boolean {
    return this.#fixed[row]![column]!;
  }

  set(row: number, column: number, dark: boolean): void {
    if (row < 0 || column < 0 || row >= this.size || column >= this.size) return;
    this.dark[row]![column] = dark;
    this.#fixed[row]![column] = true;
  }

  #drawFixed(): void {
    const { size, version } = this;
    for (let at = 0; at < size; at++) {
      this.set(6, at, at % 2 === 0);
      this.set(at, 6, at % 2 === 0);
    }
    for (const [row, column] of [[3, 3], [3, size - 4], [size - 4, 3]] as const) this.#rings(row, column, 4, [2, 4]);
    const centres = CENTRES[version - 1]!;
    const last = centres.length - 1;
    centres.forEach((row, i) =>
      centres.forEach((column, j) => {
        const inCorner = (i === 0 && (j === 0 || j === last)) || (i === last && j === 0);
        if (!inCorner) this.#rings(row, column, 2, [1]);
      }),
    );
    this.drawFormat(0);
    if (version >= 7) this.#drawVersion();
  }

  #rings(row: number, column: number, reach: number, light: readonly number[]): void {
    for (let dr = -reach; dr <= reach; dr++)
      for (let dc = -reach; dc <= reach; dc++)
        this.set(row + dr, column + dc, !light.includes(Math.max(Math.abs(dr), Math.abs(dc))));
  }

  drawFormat(mask: number): void {
    const bits = formatBits(mask);
    const { size } = this;
    for (let at = 0; at < 15; at++) {
      const dark = ((bits >> at) & 1) === 1;
      const [row, column] = at < 6 ? [at, 8] : at < 8 ? [at + 1, 8] : at < 9 ? [8, 7] : [8, 14 - at];
      this.set(row, column, dark);
      if (at < 8) this.set(8, size - 1 - at, dark);
      else this.set(size - 15 + at, 8, dark);
    }
    this.set(size - 8, 8, true);
  }

  #drawVersion(): void {
    const bits = versionBits(this.version);
    for (let at = 0; at < 18; at++) {
      const dark = ((bits >> at) & 1) === 1;
      const [near, far] = [Math.floor(at / 3), this.size - 11 + (at % 3)];
      this.set(near, far, dark);
      this.set(far, near, dark);
    }
  }
}

/** Level M and the mask, with their repair bits. */
export function formatBits(mask: number): number {
  let rest = mask;
  for (let i = 0; i < 10; i++) rest = (rest << 1) ^ ((rest >> 9) * 0x537);
  return ((mask << 10) | rest) ^ 0x5412;
}

export function versionBits(version: number): number {
  let rest = version;
  for (let i = 0; i < 12; i++) rest = (rest << 1) ^ ((rest >> 11) * 0x1f25);
  return (version << 12) | rest;
}

/** The finished code. Without a given mask the one is taken that readers like best. */
export function drawMatrix(words: readonly number[], version: number, mask?: number): Matrix {
  if (mask !== undefined) return masked(words, version, mask);
  let best: Matrix = [];
  let least = Infinity;
  for (let each = 0; each < MASKS.length; each++) {
    const matrix = masked(words, version, each);
    const penalty = penaltyOf(matrix);
    if (penalty < least) [best, least] = [matrix, penalty];
  }
  return best;
}

function masked(words: readonly number[], version: number, mask: number): Matrix {
  const sheet = new Sheet(version);
  const flips = MASKS[mask]!;
  let at = 0;
  for (const [row, column] of path(sheet)) {
    const bit = ((words[at >> 3] ?? 0) >> (7 - (at & 7))) & 1;
    sheet.dark[row]![column] = (bit === 1) !== flips(row, column);
    at++;
  }
  sheet.drawFormat(mask);
  return sheet.dark;
}

/** The free modules in the order of the data: columns in pairs from the right, up and down in turn. */
function* path(sheet: Sheet): Generator<readonly [number, number]> {
  const { size } = sheet;
  let upwards = true;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right--;
    for (let step = 0; step < size; step++) {
      const row = upwards ? size - 1 - step : step;
      for (const column of [right, right - 1]) if (!sheet.isFixed(row, column)) yield [row, column];
    }
    upwards = !upwards;
  }
}

/** How hard a code is to read: long runs, blocks, false finders, and too much of one colour. */
export function penaltyOf(matrix: Matrix): number {
  const size = matrix.length;
  const columns = matrix.map((_, at) => matrix.map((row) => row[at]!));
  let penalty = 0;
  for (const line of [...matrix, ...columns]) {
    const text = line.map((dark) => (dark ? "1" : "0")).join("");
    for (const run of text.match(/0{5,}|1{5,}/g) ?? []) penalty += run.length - 2;
    for (let at = 0; at + 11 <= size; at++) {
      const part = text.slice(at, at + 11);
      if (part === "10111010000" || part === "00001011101") penalty += 40;
    }
  }
  for (let row = 1; row < size; row++)
    for (let column = 1; column < size; column++) {
      const dark = matrix[row]![column];
      if (dark === matrix[row - 1]![column] && dark === matrix[row]![column - 1] && dark === matrix[row - 1]![column - 1]) penalty += 3;
    }
  const share = matrix.flat().filter(Boolean).length / (size * size);
  return penalty + 10 * Math.floor(Math.abs(share * 100 - 50) / 5);
}
