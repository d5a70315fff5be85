/**
 * The codewords of a QR code (ISO/IEC 18004): bytes in byte mode at error correction level M, in blocks with their
 * Reed-Solomon codewords.
 */

/** Error correction codewords of each block, by version from 1. */
const CHECK_WORDS = [
  ...[10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26],
  ...[26, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28],
];
/** Blocks, by version from 1. */
const BLOCKS = [
  ...[1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16],
  ...[17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35, 37, 38, 40, 43, 45, 47, 49],
];
const MAX_VERSION = BLOCKS.length;
const BYTE_MODE = 0b0100;
const MODE_BITS = 4;
/** From this version on, the length has 16 bits instead of 8. */
const LONG_COUNT_VERSION = 10;
const PADDING = [0xec, 0x11];
/** x^8 + x^4 + x^3 + x^2 + 1, the polynomial of the field. */
const FIELD_POLYNOMIAL = 0x11d;

export interface QrCodeWords {
  /** 1 to 40: the width is `17 + 4 * version` modules. */
  readonly version: number;
  readonly words: Uint8Array;
}

/** Returns the words of the smallest version that holds `bytes`; undefined for more than 2,331 bytes. */
export function qrCodeWords(bytes: Uint8Array): QrCodeWords | undefined {
  for (let version = 1; version <= MAX_VERSION; version += 1)
    if (headBits(version) + 8 * bytes.length <= 8 * dataWords(version))
      return { version, words: interleaved(version, paddedData(version, bytes)) };
  return undefined;
}

/** Centers of the alignment patterns in both directions, from the outermost at 6. */
export function alignmentCenters(version: number): number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.floor((version * 8 + count * 3 + 5) / (count * 4 - 4)) * 2;
  const last = 4 * version + 10;
  return [6, ...Array.from({ length: count - 1 }, (_, index) => last - (count - 2 - index) * step)];
}

/** Codewords of the whole symbol: its modules without the patterns, by eight. */
function allWords(version: number): number {
  const width = 17 + 4 * version;
  const [finders, formats, timing] = [3 * 64, 31, 2 * (width - 16)];
  const centers = alignmentCenters(version).length;
  // Three corners have no alignment pattern; those at column or row 6 share five modules with the timing pattern.
  const alignment = centers === 0 ? 0 : (centers * centers - 3) * 25 - (centers - 2) * 2 * 5;
  const versions = version >= 7 ? 2 * 18 : 0;
  return Math.floor((width * width - finders - formats - timing - alignment - versions) / 8);
}

function dataWords(version: number): number {
  return allWords(version) - CHECK_WORDS[version - 1]! * BLOCKS[version - 1]!;
}

function headBits(version: number): number {
  return MODE_BITS + (version < LONG_COUNT_VERSION ? 8 : 16);
}

function paddedData(version: number, bytes: Uint8Array): Uint8Array {
  const bits: number[] = [];
  const append = (value: number, count: number): void => {
    for (let bit = count - 1; bit >= 0; bit -= 1) bits.push((value >>> bit) & 1);
  };
  append(BYTE_MODE, MODE_BITS);
  append(bytes.length, headBits(version) - MODE_BITS);
  for (const byte of bytes) append(byte, 8);
  const data = new Uint8Array(dataWords(version));
  const used = Math.min(Math.ceil((bits.length + MODE_BITS) / 8), data.length);
  bits.forEach((bit, index) => {
    data[index >> 3]! |= bit << (7 - (index & 7));
  });
  for (let index = used; index < data.length; index += 1) data[index] = PADDING[(index - used) % 2]!;
  return data;
}

/** The words of all blocks in turn; the later blocks have one data word more. */
function interleaved(version: number, data: Uint8Array): Uint8Array {
  const [blockCount, checkCount] = [BLOCKS[version - 1]!, CHECK_WORDS[version - 1]!];
  const shortLength = Math.floor(data.length / blockCount);
  const shortCount = blockCount - (data.length % blockCount);
  const divisor = generator(checkCount);
  const blocks = Array.from({ length: blockCount }, (_, index) => {
    const start = index * shortLength + Math.max(0, index - shortCount);
    const words = data.subarray(start, start + shortLength + (index < shortCount ? 0 : 1));
    return { words, check: remainder(words, divisor) };
  });
  const result: number[] = [];
  for (let index = 0; index <= shortLength; index += 1)
    for (const { words } of blocks) if (index < words.length) result.push(words[index]!);
  for (let index = 0; index < checkCount; index += 1)
    for (const { check } of blocks) result.push(check[index]!);
  return Uint8Array.from(result);
}

/** Coefficients of the product of `x - 2^i` for each i below `degree`, without the leading one. */
function generator(degree: number): Uint8Array {
  const product = new Uint8Array(degree);
  product[degree - 1] = 1;
  let root = 1;
  for (let count = 0; count < degree; count += 1) {
    for (let index = 0; index < degree; index += 1)
      product[index] = multiply(product[index]!, root) ^ (product[index + 1] ?? 0);
    root = multiply(root, 2);
  }
  return product;
}

function remainder(words: Uint8Array, divisor: Uint8Array): Uint8Array {
  const rest = new Uint8Array(divisor.length);
  for (const word of words) {
    const factor = word ^ rest[0]!;
    rest.copyWithin(0, 1);
    rest[rest.length - 1] = 0;
    for (const [index, coefficient] of divisor.entries()) rest[index]! ^= multiply(coefficient, factor);
  }
  return rest;
}

function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ ((product >>> 7) * FIELD_POLYNOMIAL);
    product ^= ((b >>> bit) & 1) * a;
  }
  return product;
}
