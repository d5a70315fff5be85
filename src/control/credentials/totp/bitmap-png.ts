/** PNG images (ISO/IEC 15948) of black and white squares. */
import { crc32, deflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const BIT_DEPTH = 1;
const GRAYSCALE = 0;

/** `rows` are squares, black where true; each is `scale` pixels wide. */
export function pngOf(rows: readonly (readonly boolean[])[], scale: number): Uint8Array {
  const [width, height] = [rows[0]?.length ?? 0, rows.length];
  const lineBytes = 1 + Math.ceil((width * scale) / 8);
  // A line begins with its filter: 0, none. White is 1.
  const pixels = new Uint8Array(lineBytes * height * scale).fill(0xff);
  for (let line = 0; line < height * scale; line += 1) {
    const start = line * lineBytes;
    pixels[start] = 0;
    rows[Math.floor(line / scale)]!.forEach((isBlack, x) => {
      for (let pixel = x * scale; isBlack && pixel < (x + 1) * scale; pixel += 1)
        pixels[start + 1 + (pixel >> 3)]! &= ~(0x80 >> (pixel & 7));
    });
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width * scale, 0);
  header.writeUInt32BE(height * scale, 4);
  header.set([BIT_DEPTH, GRAYSCALE], 8);
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', deflateSync(pixels)), chunk('IEND')]);
}

function chunk(type: string, data: Uint8Array = new Uint8Array()): Uint8Array {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(named, 4);
  framed.writeUInt32BE(crc32(named), named.length + 4);
  return framed;
}
