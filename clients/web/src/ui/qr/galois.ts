/** Reed-Solomon codes over the field of 256 elements that QR codes use. */

const POLYNOMIAL = 0x11d;
const EXP = new Uint8Array(512);
const LOG = new Uint8Array(256);

for (let power = 0, value = 1; power < 255; power++) {
  EXP[power] = EXP[power + 255] = value;
  LOG[value] = power;
  value <<= 1;
  if (value & 0x100) value ^= POLYNOMIAL;
}

function times(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : EXP[LOG[a]! + LOG[b]!]!;
}

/** The product of (x - 2^i) for i below `degree`, without its leading 1. */
function generator(degree: number): number[] {
  let product = [1];
  for (let i = 0; i < degree; i++) {
    const next = [...product, 0];
    product.forEach((factor, at) => (next[at + 1]! ^= times(factor, EXP[i]!)));
    product = next;
  }
  return product.slice(1);
}

/** The codewords that let a reader repair `data`. */
export function repairWords(data: readonly number[], count: number): number[] {
  const divisor = generator(count);
  const rest = new Array<number>(count).fill(0);
  for (const word of data) {
    const factor = word ^ rest.shift()!;
    rest.push(0);
    divisor.forEach((each, at) => (rest[at]! ^= times(each, factor)));
  }
  return rest;
}
