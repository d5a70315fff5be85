/**
 * The frames of a real OpenZiti 1.7.2 network (test/vectors/openziti-1.7.2.jsonl), for tests that decode or replay
 * them. `frame` is absent where the recording keeps only the first 256 bytes of the body.
 */
import { readFileSync } from 'node:fs';
import { bytesOfHex } from '#base';
import { FrameDecoder, type Frame } from '#wire';

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

export function loadRecordedFrames(): RecordedFrame[] {
  const file = new URL('../vectors/openziti-1.7.2.jsonl', import.meta.url);
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordedFrame);
}

export function loadWireVectors(): WireVector[] {
  return JSON.parse(
    readFileSync(new URL('../vectors/wire-vectors.json', import.meta.url), 'utf8'),
  ) as WireVector[];
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
