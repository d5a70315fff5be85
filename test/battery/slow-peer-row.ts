/**
 * L1: a huge answer to a reader of 10 KiB/s, and a huge upload to a service that takes as little. No part grows by more
 * than 32 MiB, the producer stands still, and what was slow arrives whole once it is not.
 */
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { within } from '../support/deadline.ts';
import { hostOf, LISTENER_KINDS, type BatteryProduct, type ListenerKind } from './battery-product.ts';
import { Tally, type BatteryRow } from './battery-row.ts';
import { askBytes, BytesClient, statusOf } from './bytes-client.ts';
import { digestOfBytes, startLoadOrigin, type LoadOrigin } from './load-origin.ts';
import { MemoryWatch, MIB, WATCHED_PARTS } from './memory-watch.ts';

const MAX_GROWTH = 32 * MIB;
/** More than a part may grow by, and what the buffers of all sockets on the way hold, together. */
const QUICK_BYTES = 48 * MIB;
const READ_BYTES = 1_024;
const READ_MS = 100;
const NAME = 'l1-slow';
const WHOLE_MS = 180_000;
/**
 * The part of a transfer that may be ahead of its reader; the buffers of all sockets on the way hold much of a short
 * one.
 */
const MOST_AHEAD = 0.75;
/** A producer of fewer bytes than this, in half of the slow time, stands still. */
const STILL_BYTES = 2 * MIB;
/** So many halves may pass until all buffers on the way are full. */
const MAX_HALVES = 10;

interface Length {
  readonly bytes: number;
  readonly slowMs: number;
}

export const SLOW_PEER_ROW: BatteryRow = {
  id: 'L1',
  title: 'a slow reader and a slow service cost at most 32 MiB a part',
  run: async (context, product) => {
    const tally = new Tally();
    const length: Length = context.quick
      ? { bytes: QUICK_BYTES, slowMs: 4_000 }
      : { bytes: 1_024 * MIB, slowMs: 30_000 };
    const origin = await startLoadOrigin();
    try {
      await product.share(NAME, origin.port);
      for (const kind of LISTENER_KINDS) {
        await warm(product, kind);
        context.progress(kind);
        await runDownload(tally, product, origin, kind, length, context.note);
        context.progress(`${kind}, the download is done`);
        await runUpload(tally, product, origin, kind, length, context.note);
      }
    } finally {
      await origin.stop();
    }
    return tally;
  },
};

/** What a first transfer makes a process grow by is no slow peer's doing. */
async function warm(product: BatteryProduct, kind: ListenerKind): Promise<void> {
  const target = product.target(kind, NAME);
  const lines = `Host: ${hostOf(NAME)}\r\nConnection: close\r\n`;
  await askBytes(target, `GET /bytes/${QUICK_BYTES} HTTP/1.1\r\n${lines}\r\n`, WHOLE_MS);
  const body = 'x'.repeat(8 * MIB);
  await askBytes(
    target,
    `POST /echo HTTP/1.1\r\n${lines}Content-Length: ${body.length}\r\n\r\n${body}`,
    WHOLE_MS,
  );
}

function judge(tally: Tally, watch: MemoryWatch, what: string): void {
  for (const part of WATCHED_PARTS) {
    tally.check(watch.growth(part) <= MAX_GROWTH, `${what}: ${part} grows by at most 32 MiB`, () =>
      watch.toString(),
    );
  }
}

/** One half of the slow time after the other, until a producer stands still; not in the first, which fills buffers. */
async function untilStill(
  half: () => Promise<void>,
  produced: () => Promise<number> | number,
): Promise<{ readonly total: number; readonly lately: number }> {
  let total = 0;
  let lately = Infinity;
  for (let halves = 0; halves < 2 || (lately >= STILL_BYTES && halves < MAX_HALVES); halves += 1) {
    const before = total;
    await half();
    total = await produced();
    lately = total - before;
  }
  return { total, lately };
}

async function runDownload(
  tally: Tally,
  product: BatteryProduct,
  origin: LoadOrigin,
  kind: ListenerKind,
  { bytes, slowMs }: Length,
  note: (line: string) => void,
): Promise<void> {
  const watch = await MemoryWatch.start(product);
  const before = (await origin.counts()).produced;
  const client = await BytesClient.open(product.target(kind, NAME));
  const { socket } = client;
  socket.removeAllListeners('data');
  socket.pause();
  client.send(`GET /bytes/${bytes} HTTP/1.1\r\nHost: ${hostOf(NAME)}\r\nConnection: close\r\n\r\n`);
  const hash = createHash('sha256');
  let head = '';
  let got = 0;
  const take = (piece: Buffer): void => {
    let rest = piece;
    if (!head.endsWith('\r\n\r\n')) {
      const text = head + piece.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      rest = end < 0 ? Buffer.alloc(0) : piece.subarray(end + 4 - head.length);
      head = end < 0 ? text : text.slice(0, end + 4);
    }
    hash.update(rest);
    got += rest.length;
  };
  // The stream keeps to itself what it has read ahead; `read` takes as many bytes as it is given.
  socket.on('readable', () => {});
  const readHalf = async (): Promise<void> => {
    for (let ms = 0; ms < slowMs / 2; ms += READ_MS) {
      const piece = socket.read(READ_BYTES) as Buffer | null;
      if (piece !== null) take(piece);
      await pause(READ_MS);
    }
  };
  const { total, lately } = await untilStill(readHalf, async () => (await origin.counts()).produced);
  const ahead = total - before - got;
  tally.check(
    ahead < bytes * MOST_AHEAD && lately < STILL_BYTES,
    `${kind} download: the producer stands still`,
    () => JSON.stringify({ ahead, lately }),
  );
  note(`${kind} download: ${watch.toString()}; ${(ahead / MIB).toFixed(1)} MiB on their way`);
  judge(tally, watch, `${kind} download`);
  const whole = Promise.withResolvers<void>();
  socket.on('end', () => whole.resolve());
  socket.on('close', () => whole.resolve());
  socket.removeAllListeners('readable');
  socket.on('data', take);
  socket.resume();
  await within('the whole answer', whole.promise, WHOLE_MS);
  watch.stop();
  tally.check(
    statusOf(head) === 200 && got === bytes && hash.digest('hex') === digestOfBytes(bytes),
    `${kind} download: arrives whole`,
    () => `${got} of ${bytes} bytes`,
  );
  client.close();
}

async function runUpload(
  tally: Tally,
  product: BatteryProduct,
  origin: LoadOrigin,
  kind: ListenerKind,
  { bytes, slowMs }: Length,
  note: (line: string) => void,
): Promise<void> {
  const watch = await MemoryWatch.start(product);
  const client = await BytesClient.open(product.target(kind, NAME));
  const { socket } = client;
  const block = Buffer.alloc(65_536, 'upload ');
  const hash = createHash('sha256');
  const before = (await origin.counts()).taken;
  let sent = 0;
  client.send(
    `POST /sink HTTP/1.1\r\nHost: ${hostOf(NAME)}\r\nContent-Length: ${bytes}\r\nConnection: close\r\n\r\n`,
  );
  const all = Promise.withResolvers<void>();
  const more = (): void => {
    while (sent < bytes && client.isOpen) {
      sent += block.length;
      hash.update(block);
      if (!socket.write(block)) return;
    }
    all.resolve();
  };
  socket.on('drain', more);
  more();
  const { total, lately } = await untilStill(
    () => pause(slowMs / 2),
    () => sent,
  );
  const { taken } = await origin.counts();
  const ahead = total - (taken - before);
  tally.check(
    ahead < bytes * MOST_AHEAD && lately < STILL_BYTES,
    `${kind} upload: the client is stopped`,
    () => JSON.stringify({ ahead, lately }),
  );
  note(`${kind} upload: ${watch.toString()}; ${(ahead / MIB).toFixed(1)} MiB on their way`);
  judge(tally, watch, `${kind} upload`);
  await origin.hurry();
  await within('the whole upload', all.promise, WHOLE_MS).catch(() => {});
  const answer = await client.ended(WHOLE_MS).catch((error: unknown) => String(error));
  watch.stop();
  tally.check(
    statusOf(answer) === 200 && answer.includes(hash.digest('hex')),
    `${kind} upload: arrives whole`,
    () => `${sent} of ${bytes} bytes; ${JSON.stringify(answer.slice(-200))}`,
  );
  client.close();
}
