/**
 * QR codes (ISO/IEC 18004) of bytes at error correction level M. No package, because the content is a secret and the standard is
 * short (docs/dependencies.md).
 */
import { alignmentCenters, qrCodeWords } from './qr-code-words.ts';

/** Rows of modules; 1 is dark. */
export type QrCode = readonly Uint8Array[];

const FINDER_WIDTH = 7;
/** Bits of level M in the format, above those of the mask. */
const LEVEL_M = 0b00;
const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_x, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/** Returns undefined for more than 2,331 bytes. */
export function qrCodeOf(bytes: Uint8Array): QrCode | undefined {
  const encoded = qrCodeWords(bytes);
  if (encoded === undefined) return undefined;
  const { version, words } = encoded;
  const width = 17 + 4 * version;
  const modules = Array.from({ length: width }, () => new Uint8Array(width));
  const reserved = Array.from({ length: width }, () => new Uint8Array(width));
  const put = (x: number, y: number, isDark: boolean): void => {
    modules[y]![x] = isDark ? 1 : 0;
    reserved[y]![x] = 1;
  };
  putPatterns(version, width, put);
  putFormat(width, 0, put);
  putWords(words, modules, reserved);
  const masked = MASKS.map((_, mask) => maskedBy(mask, modules, reserved));
  const penalties = masked.map(penaltyOf);
  return masked[penalties.indexOf(Math.min(...penalties))];
}

type Put = (x: number, y: number, isDark: boolean) => void;

function putPatterns(version: number, width: number, put: Put): void {
  for (let index = 0; index < width; index += 1) {
    put(6, index, index % 2 === 0);
    put(index, 6, index % 2 === 0);
  }
  for (const [left, top] of [
    [0, 0],
    [width - FINDER_WIDTH, 0],
    [0, width - FINDER_WIDTH],
  ] as const)
    for (let y = Math.max(0, top - 1); y < Math.min(width, top + 8); y += 1)
      for (let x = Math.max(0, left - 1); x < Math.min(width, left + 8); x += 1) {
        const ring = Math.max(Math.abs(x - left - 3), Math.abs(y - top - 3));
        put(x, y, ring !== 2 && ring !== 4);
      }
  const centers = alignmentCenters(version);
  const last = centers.at(-1);
  for (const cy of centers)
    for (const cx of centers) {
      // The corners of the finder patterns have none.
      if ((cx === 6 && cy === 6) || (cx === 6 && cy === last) || (cx === last && cy === 6)) continue;
      for (let y = -2; y <= 2; y += 1)
        for (let x = -2; x <= 2; x += 1) put(cx + x, cy + y, Math.max(Math.abs(x), Math.abs(y)) !== 1);
    }
  if (version < 7) return;
  const bits = withCheck(version, 12, 0x1f25);
  for (let bit = 0; bit < 18; bit += 1) {
    const [near, far] = [Math.floor(bit / 3), width - 11 + (bit % 3)];
    put(far, near, isSet(bits, bit));
    put(near, far, isSet(bits, bit));
  }
}

/** Level and mask, twice, and the module that is always dark. */
function putFormat(width: number, mask: number, put: Put): void {
  const bits = withCheck((LEVEL_M << 3) | mask, 10, 0x537) ^ 0x5412;
  for (let bit = 0; bit < 15; bit += 1) {
    const isDark = isSet(bits, bit);
    // Around the finder pattern at the top left, past the timing patterns.
    if (bit < 8) put(8, bit < 6 ? bit : bit + 1, isDark);
    else put(bit === 8 ? 7 : 14 - bit, 8, isDark);
    // Beside the two others.
    if (bit < 8) put(width - 1 - bit, 8, isDark);
    else put(8, width - 15 + bit, isDark);
  }
  put(8, width - 8, true);
}

/** Two columns at a time from the right, upwards and downwards in turn. */
function putWords(words: Uint8Array, modules: readonly Uint8Array[], reserved: readonly Uint8Array[]): void {
  const width = modules.length;
  let bit = 0;
  for (let right = width - 1, isUp = true; right > 0; right -= 2, isUp = !isUp) {
    // The timing pattern is a column of its own.
    if (right === 6) right -= 1;
    for (let step = 0; step < width; step += 1) {
      const y = isUp ? width - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (reserved[y]![x] === 1 || bit >= words.length * 8) continue;
        modules[y]![x] = (words[bit >> 3]! >>> (7 - (bit & 7))) & 1;
        bit += 1;
      }
    }
  }
}

function maskedBy(mask: number, modules: readonly Uint8Array[], reserved: readonly Uint8Array[]): QrCode {
  const covers = MASKS[mask]!;
  const masked = modules.map((row, y) =>
    row.map((module, x) => (reserved[y]![x] === 0 && covers(x, y) ? 1 - module : module)),
  );
  putFormat(masked.length, mask, (x, y, isDark) => (masked[y]![x] = isDark ? 1 : 0));
  return masked;
}

/** The standard's measure of how hard the symbol is to read. */
function penaltyOf(modules: QrCode): number {
  const width = modules.length;
  const columns = Array.from({ length: width }, (_, x) => Uint8Array.from(modules, (row) => row[x]!));
  let penalty = 0;
  for (const line of [...modules, ...columns]) {
    const text = line.join('');
    for (const run of text.match(/0{5,}|1{5,}/g) ?? []) penalty += run.length - 2;
    // Like a finder pattern, beside four light modules. Matches may overlap.
    for (const look of [/(?=10111010000)/g, /(?=00001011101)/g])
      penalty += 40 * [...text.matchAll(look)].length;
  }
  for (let y = 1; y < width; y += 1)
    for (let x = 1; x < width; x += 1) {
      const dark = modules[y]![x]! + modules[y]![x - 1]! + modules[y - 1]![x]! + modules[y - 1]![x - 1]!;
      if (dark === 0 || dark === 4) penalty += 3;
    }
  const dark = modules.reduce((sum, row) => sum + row.reduce((count, module) => count + module, 0), 0);
  const percent = (dark * 100) / (width * width);
  return penalty + Math.floor(Math.abs(percent - 50) / 5) * 10;
}

/** The value, followed by `count` bits of its remainder by the polynomial. */
function withCheck(value: number, count: number, polynomial: number): number {
  let rest = value;
  for (let bit = 0; bit < count; bit += 1) rest = (rest << 1) ^ ((rest >>> (count - 1)) * polynomial);
  return (value << count) | rest;
}

function isSet(bits: number, bit: number): boolean {
  return ((bits >>> bit) & 1) === 1;
}
