/**
 * Frames of a real network, recorded or made by hand, changed at random: bits and bytes flipped, runs cut out, doubled
 * or filled, lengths and ids set to the values at which programs break.
 */
import { FRAME_HEAD_BYTES } from '#wire';
import { channelOf, loadRecordedFrames, loadWireVectors } from './recorded-frames.ts';
import type { SeededRandom } from './seeded-random.ts';

const HELLO = 0;
/** The first bytes of a frame, in hex; vectors of other forms are left out. */
const MAGIC = '0306090c';
const EDGES = [
  0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff,
] as const;

export type FuzzedChannel = 'ctrl' | 'edge' | 'link';

/** Vectors that stand for a frame of each kind of channel, by the beginning of their names. */
const VECTOR_PREFIXES: Readonly<Record<FuzzedChannel, readonly string[]>> = {
  ctrl: ['ctrl_', 'hello_', 'heartbeat_', 'latency_', 'ping'],
  link: ['link_', 'xg_', 'heartbeat_', 'latency_'],
  edge: ['xg_', 'heartbeat_', 'latency_'],
};

/** Whole frames of one kind of channel, recorded ones and vectors, hellos left out. */
export function recordedFrames(channel: FuzzedChannel): Uint8Array[] {
  return wholeFrames(channel).filter((frame) => typeOf(frame) !== HELLO);
}

export function recordedHellos(channel: FuzzedChannel): Uint8Array[] {
  return wholeFrames(channel).filter((frame) => typeOf(frame) === HELLO);
}

function wholeFrames(channel: FuzzedChannel): Uint8Array[] {
  const recorded = loadRecordedFrames().flatMap((frame) =>
    channelOf(frame) === channel && frame.frame !== undefined ? [frame.frame] : [],
  );
  const vectors = loadWireVectors().flatMap(({ name, hex }) =>
    VECTOR_PREFIXES[channel].some((prefix) => name.startsWith(prefix)) && hex.startsWith(MAGIC) ? [hex] : [],
  );
  return [...recorded, ...vectors].map((hex) => Buffer.from(hex, 'hex'));
}

function typeOf(frame: Uint8Array): number {
  return new DataView(frame.buffer, frame.byteOffset).getInt32(4, true);
}

/** A changed copy. Seven of eight keep the lengths of the frame true, so that the change reaches what is inside. */
export function mutate(frame: Uint8Array, random: SeededRandom): Uint8Array {
  const bytes = Uint8Array.from(frame);
  const keepsFraming = random.int(8) !== 0 && bytes.length > FRAME_HEAD_BYTES;
  const view = new DataView(bytes.buffer);
  const from = keepsFraming ? FRAME_HEAD_BYTES : 0;
  const changes = 1 + random.int(4);
  for (let change = 0; change < changes; change += 1) {
    const at = from + random.int(bytes.length - from);
    switch (random.int(5)) {
      case 0:
        bytes[at]! ^= 1 << random.int(8);
        break;
      case 1:
        bytes[at] = random.int(256);
        break;
      case 2:
        if (at + 4 <= bytes.length) view.setUint32(at, random.pick(EDGES), random.int(2) === 0);
        break;
      case 3:
        bytes.fill(random.pick([0, 0xff, 0x41]), at, Math.min(bytes.length, at + 1 + random.int(16)));
        break;
      default:
        bytes.copyWithin(at, from + random.int(bytes.length - from), bytes.length);
    }
  }
  // The type at random, too: a body of one message under the number of another.
  if (keepsFraming && random.int(8) === 0)
    view.setUint32(4, random.pick([1, 2, 3, 5, 1_000, 1_034, 60_783, 60_785, 60_790]), true);
  return bytes;
}
