/**
 * One listener under attack: mutated frames before a hello, each on a connection of its own, and after a true one,
 * many on a channel. The bytes that the other side has read are counted; a peer that breaks the framing has to be cut
 * off in time.
 */
import { randomBytes } from 'node:crypto';
import {
  FrameDecoder,
  headerId,
  HeaderWriter,
  LATENCY_TYPE,
  makeFrame,
  RESULT_TYPE,
  type Frame,
} from '#wire';
import { until } from '../../support/deadline.ts';
import { mutate } from '../../support/frame-mutation.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import { WirePeer, type WireCredentials } from '../../support/wire-peer.ts';

const { channel } = headerId;

/** What a worker of an attack sends, and from whom. */
export interface AttackSource {
  readonly port: number;
  readonly alpn: string;
  readonly credentials: WireCredentials;
  /** Whole hellos, to be changed. */
  readonly hellos: readonly Uint8Array[];
  /** Whole frames of channels that stand, to be changed. */
  readonly frames: readonly Uint8Array[];
  /** Limit of a frame's body after the hello, in bytes. */
  readonly maxBodyBytes: number;
  /** False when the body does not fit its type, for which a channel may be closed. */
  isMessage(frame: Frame): boolean;
  /** A channel whose hello was taken; undefined: not now. Frames of circuits that it has go to `frames`, too. */
  open(): Promise<{ readonly peer: WirePeer; readonly frames: readonly Uint8Array[] } | undefined>;
}

type Sent = Pick<AttackSource, 'frames' | 'isMessage' | 'maxBodyBytes'>;

export interface FrameTally {
  before: number;
  after: number;
  /** Connections and channels that were opened for it. */
  channels: number;
  /** Number of them that the other side ended. */
  closed: number;
  /** The longest that a peer waited for its end after it had broken the framing, or had sent half a hello. */
  slowestCloseMs: number;
  /** A longer wait than this is a finding. */
  readonly patienceMs: number;
  readonly findings: string[];
}

const FRAMES_A_BATCH = 25;
const FRAMES_A_CHANNEL = 1_000;
/** One in so many is sent of the frames that break the framing, and of those that are no message. */
const BREAKING_SHARE = 200;
const MALFORMED_SHARE = 20;
const OPEN_MS = 20_000;
const MAX_FINDINGS = 5;
const HELLO_LIMITS = { maxHeadersBytes: 16_384, maxBodyBytes: 4_192 };

export function newTally(patienceMs: number): FrameTally {
  return { before: 0, after: 0, channels: 0, closed: 0, slowestCloseMs: 0, patienceMs, findings: [] };
}

/** Mutated hellos, and frames that are none, `count` of them. */
export async function attackBeforeHello(
  source: AttackSource,
  count: number,
  random: SeededRandom,
  tally: FrameTally,
): Promise<void> {
  const { port, alpn, credentials } = source;
  for (let sent = 0; sent < count && tally.findings.length < MAX_FINDINGS; sent += 1) {
    const bytes = mutate(random.pick(random.int(8) === 0 ? source.frames : source.hellos), random);
    // A handshake that a busy machine does not finish in time is cut, as one that is never finished.
    const { value: peer } = await until(
      'a connection for the next frame',
      () => WirePeer.open({ port, alpn, credentials }),
      () => true,
    );
    tally.channels += 1;
    const fromMs = performance.now();
    peer.sendBytes(bytes);
    const isTaken = (): boolean => peer.frames[0]?.headers.bool(channel.resultSuccess) === true;
    await untilClosed(peer, tally, `before the hello: ${describe(bytes)}`, fromMs, isTaken);
    tally.before += 1;
    peer.close();
  }
}

/** Mutated frames on channels whose hello was true, `count` of them. */
export async function attackAfterHello(
  source: AttackSource,
  count: number,
  random: SeededRandom,
  tally: FrameTally,
): Promise<void> {
  const upTo = tally.after + count;
  while (tally.after < upTo && tally.findings.length < MAX_FINDINGS) {
    const { value: opened } = await until(
      'a channel for the next frames',
      () => source.open(),
      (it) => it !== undefined,
      OPEN_MS,
    );
    tally.channels += 1;
    const { peer, frames } = opened!;
    await sendSome(
      peer,
      { ...source, frames },
      Math.min(FRAMES_A_CHANNEL, upTo - tally.after),
      random,
      tally,
    );
    peer.close();
  }
}

async function sendSome(
  peer: WirePeer,
  sent: Sent,
  count: number,
  random: SeededRandom,
  tally: FrameTally,
): Promise<void> {
  for (let left = count; left > 0;) {
    const { batch, breaking } = nextBatch(sent, Math.min(left, FRAMES_A_BATCH), random);
    peer.sendBytes(Buffer.concat(batch));
    if (batch.length > 0 && !(await isAnswered(peer))) {
      // The channel was closed because of one frame; how many were read before it is not known.
      tally.after += 1;
      tally.closed += 1;
      return;
    }
    tally.after += batch.length;
    left -= batch.length;
    if (breaking === undefined) continue;
    const { bytes, kind } = breaking;
    const fromMs = performance.now();
    peer.sendBytes(bytes);
    tally.after += 1;
    left -= 1;
    if (kind === 'malformed') {
      // Closed for it, unless nobody there reads such a message.
      if (await isAnswered(peer)) continue;
      tally.closed += 1;
    } else if (kind === 'broken') {
      await untilClosed(peer, tally, `after the hello: ${describe(bytes)}`, fromMs);
    }
    // Half a frame is no fault: the rest may come.
    return;
  }
}

/** `half`: not all of it is there; `broken`: no frame; `malformed`: a frame whose body is no such message. */
type FrameKind = 'whole' | 'half' | 'broken' | 'malformed';

interface Batch {
  readonly batch: readonly Uint8Array[];
  /** What follows it may end the channel. */
  readonly breaking: { readonly bytes: Uint8Array; readonly kind: FrameKind } | undefined;
}

/** What ends a channel costs one, so most of it is left out. */
function nextBatch(sent: Sent, count: number, random: SeededRandom): Batch {
  const batch: Uint8Array[] = [];
  while (batch.length < count) {
    const bytes = mutate(random.pick(sent.frames), random);
    const kind = kindOf(bytes, sent);
    if (kind === 'whole') batch.push(bytes);
    else if (random.int(kind === 'malformed' ? MALFORMED_SHARE : BREAKING_SHARE) === 0)
      return { batch, breaking: { bytes, kind } };
  }
  return { batch, breaking: undefined };
}

/** What the other side has to make of the bytes. */
function kindOf(bytes: Uint8Array, { isMessage, maxBodyBytes }: Sent): FrameKind {
  const decoder = new FrameDecoder({ maxHeadersBytes: 64 * 1024, maxBodyBytes });
  let areMessages = true;
  const fault = decoder.push(bytes.slice(), (frame) => {
    areMessages &&= isMessage(frame);
  });
  if (fault !== undefined) return 'broken';
  if (decoder.bufferedBytes > 0) return 'half';
  return areMessages ? 'whole' : 'malformed';
}

/** Whether the channel still stands, and all that was sent before was read. */
async function isAnswered(peer: WirePeer): Promise<boolean> {
  const mark = randomBytes(8);
  peer.send(makeFrame(LATENCY_TYPE, { headers: new HeaderWriter().bytes(channel.reflected, mark) }));
  const isAnswer = ({ contentType, headers }: Frame): boolean =>
    contentType === RESULT_TYPE && mark.equals(headers.bytes(channel.reflected) ?? Buffer.alloc(0));
  let found = false;
  await peer.until('an answer to the probe', () => {
    found = peer.frames.some(isAnswer);
    peer.frames.length = 0;
    return found || peer.isClosed;
  });
  return found;
}

async function untilClosed(
  peer: WirePeer,
  tally: FrameTally,
  what: string,
  fromMs: number,
  isFine: () => boolean = () => false,
): Promise<void> {
  try {
    await peer.until('the end of the connection', () => peer.isClosed || isFine(), tally.patienceMs);
  } catch {
    tally.findings.push(`not closed within ${tally.patienceMs} ms ${what}`);
    return;
  }
  if (!peer.isClosed) return;
  tally.closed += 1;
  tally.slowestCloseMs = Math.max(tally.slowestCloseMs, performance.now() - fromMs);
}

function describe(bytes: Uint8Array): string {
  const decoder = new FrameDecoder(HELLO_LIMITS);
  const fault = decoder.push(bytes.slice(), () => {}) ?? `${decoder.bufferedBytes} bytes of a frame`;
  return `${fault}, ${Buffer.from(bytes).toString('hex').slice(0, 400)}`;
}
