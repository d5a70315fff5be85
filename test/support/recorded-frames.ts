/**
 * The frames of a real OpenZiti 1.7.2 network (test/vectors/openziti-1.7.2.jsonl), for tests that decode or replay
 * them. `frame` is absent where the recording keeps only the first 256 bytes of the body.
 */
import { readFileSync } from 'node:fs';
import { bytesOfHex } from '#base';
import { FrameDecoder, HeaderWriter, makeFrame, type Frame } from '#wire';

export interface RecordedFrame {
  readonly connection: string;
  readonly from: string;
  readonly to: string;
  readonly type: number;
  readonly name: string;
  readonly sequence: number;
  readonly headers: readonly (readonly [id: number, hex: string])[];
  readonly bodyBytes: number;
  readonly frameBytes: number;
  /** The whole frame, hex. */
  readonly frame?: string;
  /** Where the frame is not kept whole: the beginning of its body, hex. */
  readonly bodyStart?: string;
}

export interface WireVector {
  readonly name: string;
  readonly hex: string;
  readonly note: string;
}

/** A frame between one of our programs and OpenZiti's; `session` names both ends. */
export interface InteropFrame extends RecordedFrame {
  readonly session: string;
}

export function loadRecordedFrames(): RecordedFrame[] {
  return loadLines<RecordedFrame>('openziti-1.7.2.jsonl');
}

/** What test/interop/recorded-sessions.test.ts wrote. */
export function loadInteropFrames(): InteropFrame[] {
  return loadLines<InteropFrame>('interop-1.7.2.jsonl');
}

function loadLines<Line>(name: string): Line[] {
  return readFileSync(new URL(`../vectors/${name}`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

export function loadWireVectors(): WireVector[] {
  return JSON.parse(
    readFileSync(new URL('../vectors/wire-vectors.json', import.meta.url), 'utf8'),
  ) as WireVector[];
}

export function vectorFrame(name: string): Frame {
  const found = loadWireVectors().find((each) => each.name === name);
  if (found === undefined) throw new Error(`no vector ${name}`);
  return frameOfHex(found.hex);
}

/** A copy with other values for some headers; undefined takes one away. */
export function withHeaders(frame: Frame, changes: ReadonlyMap<number, Uint8Array | undefined>): Frame {
  const headers = new HeaderWriter();
  for (const [id, value] of frame.headers.entries()) if (!changes.has(id)) headers.bytes(id, value);
  for (const [id, value] of changes) if (value !== undefined) headers.bytes(id, value);
  return makeFrame(frame.contentType, { headers, body: frame.body, sequence: frame.sequence });
}

/** @throws Error when the hex is not exactly one frame. */
export function frameOfHex(hex: string): Frame {
  const frames: Frame[] = [];
  const decoder = new FrameDecoder({ maxHeadersBytes: 65_536, maxBodyBytes: 65_536 });
  const fault = decoder.push(bytesOfHex(hex), (frame) => void frames.push(frame));
  const [frame] = frames;
  if (fault !== undefined || frame === undefined || frames.length > 1 || decoder.bufferedBytes > 0) {
    throw new Error(`not one frame (${fault ?? `${frames.length} frames`})`);
  }
  return frame;
}

export function channelOf(frame: RecordedFrame): 'ctrl' | 'link' | 'edge' {
  return frame.connection.split('-')[0] as 'ctrl' | 'link' | 'edge';
}
