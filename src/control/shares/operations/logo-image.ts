/**
 * The logo of sign-in pages: a PNG image, of which only the picture is kept. Other forms are not accepted: an SVG can have
 * scripts, and browsers parse more of it than an image needs. The console converts them.
 */
import { invalidValue } from '#domain';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const MAX_BYTES = 32_768;
/** A picture of this size has 4 MiB in a browser. */
const MAX_PIXELS = 1_024;
/** What browsers need to draw it: neither texts, nor positions and cameras, nor further pictures of an animation. */
const KEPT: ReadonlySet<string> = new Set(['IHDR', 'PLTE', 'tRNS', 'sRGB', 'gAMA', 'IDAT', 'IEND']);
/** Length, type, and checksum. */
const FRAME_BYTES = 12;
const HEAD_BYTES = 13;

/** Returns the image in base64, without metadata. Throws `invalid`. */
export function parseLogo(base64: string): string {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > MAX_BYTES) throw invalidLogo('PNG image of at most 32 KiB');
  const chunks = chunksOf(bytes);
  const [head] = chunks;
  const isWhole =
    head?.type === 'IHDR' &&
    head.data.length === HEAD_BYTES &&
    chunks.filter(({ type }) => type === 'IHDR').length === 1 &&
    chunks.at(-1)?.type === 'IEND' &&
    chunks.some(({ type }) => type === 'IDAT');
  if (!isWhole) throw invalidLogo('PNG image');
  const [width, height] = [head.data.readUInt32BE(0), head.data.readUInt32BE(4)];
  const isDrawn = width > 0 && height > 0 && width <= MAX_PIXELS && height <= MAX_PIXELS;
  if (!isDrawn) throw invalidLogo(`PNG image of at most ${MAX_PIXELS} pixels in width and height`);
  const kept = chunks.filter(({ type }) => KEPT.has(type)).map(({ whole }) => whole);
  return Buffer.concat([SIGNATURE, ...kept]).toString('base64');
}

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
  readonly whole: Buffer;
}

/** Empty if the bytes are no sequence of chunks that ends with the last one. */
function chunksOf(bytes: Buffer): readonly Chunk[] {
  if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return [];
  const chunks: Chunk[] = [];
  for (let at = SIGNATURE.length; at < bytes.length;) {
    if (bytes.length - at < FRAME_BYTES) return [];
    const length = bytes.readUInt32BE(at);
    const end = at + FRAME_BYTES + length;
    if (end > bytes.length) return [];
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (type === 'IEND' && end !== bytes.length) return [];
    chunks.push({ type, data: bytes.subarray(at + 8, end - 4), whole: bytes.subarray(at, end) });
    at = end;
  }
  return chunks;
}

function invalidLogo(rule: string) {
  return invalidValue('logo', rule);
}
