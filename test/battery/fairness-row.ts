/** L7: measures a tenant's p99 beside a tenant that sends ten times as many requests, and beside one that floods. */
import { setTimeout as pause } from 'node:timers/promises';
import { hostOf, type BatteryProduct } from './battery-product.ts';
import { Tally, type BatteryRow } from './battery-row.ts';
import { KeepAliveClient, p99 } from '../support/keep-alive-client.ts';
import { startLoadOrigin } from './load-origin.ts';

const QUIET = 'l7-quiet';
const BUSY = 'l7-busy';
const RATE = 50;
const TIMES_MORE = 10;
const FLOOD_CONNECTIONS = 64;
const ROUNDS = 3;
/** Differences below this are noise of the machine. */
const FLOOR_MS = 5;

export const FAIRNESS_ROW: BatteryRow = {
  id: 'L7',
  title: 'a busy neighbour does not slow another tenant',
  run: async (context, product) => {
    const tally = new Tally();
    const origins = [await startLoadOrigin(), await startLoadOrigin()] as const;
    const seconds = context.quick ? 2 : 10;
    try {
      await product.share(QUIET, origins[0].port);
      await product.share(BUSY, origins[1].port);
      await pace(product, QUIET, RATE, 1);
      const alone: number[] = [];
      const beside: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        alone.push(p99(await pace(product, QUIET, RATE, seconds)));
        const [times] = await Promise.all([
          pace(product, QUIET, RATE, seconds),
          pace(product, BUSY, RATE * TIMES_MORE, seconds),
        ]);
        beside.push(p99(times));
      }
      const [own, other] = [median(alone), median(beside)];
      tally.check(
        other < Math.max(2 * own, FLOOR_MS),
        'beside ten times as much, p99 is below twice that alone',
        () => `${own.toFixed(1)} ms alone, ${other.toFixed(1)} ms beside`,
      );
      const [flooded] = await Promise.all([
        pace(product, QUIET, RATE, seconds),
        flood(product, BUSY, seconds),
      ]);
      tally.check(flooded.length > 0, 'served beside a flood');
      context.note(
        `p99 alone ${own.toFixed(1)} ms, beside ${TIMES_MORE} times as much ${other.toFixed(1)} ms, ` +
          `beside a flood over ${FLOOD_CONNECTIONS} connections ${p99(flooded).toFixed(1)} ms`,
      );
    } finally {
      for (const origin of origins) await origin.stop();
    }
    return tally;
  },
};

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

/** Asks `perSecond` times a second, spread over ten connections; the times of all answers. */
async function pace(
  product: BatteryProduct,
  name: string,
  perSecond: number,
  seconds: number,
): Promise<number[]> {
  const request = `GET / HTTP/1.1\r\nHost: ${hostOf(name)}\r\n\r\n`;
  const times: number[] = [];
  const startMs = performance.now();
  const work = async (index: number): Promise<void> => {
    const client = await KeepAliveClient.open(product.target('plain', name));
    for (let turn = index; turn < perSecond * seconds; turn += 10) {
      const dueMs = startMs + (turn * 1_000) / perSecond;
      const earlyMs = dueMs - performance.now();
      if (earlyMs > 0) await pause(earlyMs);
      const askedMs = performance.now();
      await client.ask(request);
      times.push(performance.now() - askedMs);
    }
    client.close();
  };
  await Promise.all(Array.from({ length: 10 }, (_, index) => work(index)));
  return times;
}

/** As much as is answered, over many connections. */
async function flood(product: BatteryProduct, name: string, seconds: number): Promise<void> {
  const request = `GET / HTTP/1.1\r\nHost: ${hostOf(name)}\r\n\r\n`;
  const endMs = performance.now() + seconds * 1_000;
  await Promise.all(
    Array.from({ length: FLOOD_CONNECTIONS }, async () => {
      const client = await KeepAliveClient.open(product.target('plain', name));
      while (performance.now() < endMs) await client.ask(request);
      client.close();
    }),
  );
}
