/**
 * L4: a million requests with bodies of 1 to 64 KiB, of which every twentieth is given up by its client; every hundredth
 * shows a wrong key to a guarded share. Nothing that was not given up is wrong, and memory and open files come back.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { SeededRandom } from '../support/seeded-random.ts';
import { httpGet } from '../support/world.ts';
import { until } from '../support/deadline.ts';
import { hostOf, type BatteryProduct } from './battery-product.ts';
import { Tally, type BatteryRow } from './battery-row.ts';
import { KeepAliveClient } from '../support/keep-alive-client.ts';
import { startLoadOrigin } from './load-origin.ts';
import { MIB, openFiles, restingMemory, WATCHED_PARTS } from './memory-watch.ts';

const NAME = 'l4-soak';
const GUARDED = 'l4-guarded';
const CONNECTIONS = 32;
const QUICK_REQUESTS = 2_500;
/** One in this many requests on plain connections, which are three quarters of all, goes to the guarded share. */
const WRONG_KEY_EACH = 75;
const MAX_FILES_MORE = 5;
/** Beyond a tenth. */
const SLACK = 8 * MIB;
/** In so short a run heaps still grow to their size. */
const QUICK_SLACK = 64 * MIB;
/** Longer than a circuit that nobody uses is kept. */
const QUIET_MS = 36_000;
/** Longer than garbage lies about, which the parts collect every 5 s. */
const QUICK_QUIET_MS = 6_000;

export const SOAK_ROW: BatteryRow = {
  id: 'L4',
  title: 'a million requests leave nothing behind',
  product: { isCollected: true },
  run: async (context, product) => {
    const tally = new Tally();
    const total = context.quick ? QUICK_REQUESTS : 1_000_000;
    const early = total / 10;
    const origin = await startLoadOrigin();
    const bytes = Buffer.from(
      Uint8Array.from({ length: 131_072 }, (_, i) => (i * 167 + (i >> 8) * 59) & 0xff),
    );
    try {
      await product.share(NAME, origin.port);
      await guard(product, origin.port);
      const pids = WATCHED_PARTS.map((part) => product.parts[part].pid);
      const filesBefore = pids.map(openFiles);
      let [asked, good, aborted, refused] = [0, 0, 0, 0];
      const wrong: string[] = [];
      const work = async (index: number, end: number): Promise<void> => {
        const random = new SeededRandom(context.seed * 64 + asked + index);
        const isPlain = index % 4 !== 0;
        // Wrong keys are counted by address: each connection has its own.
        const target = {
          ...product.target(isPlain ? 'plain' : 'tls', NAME),
          localAddress: `127.0.4.${1 + index}`,
        };
        let client = await KeepAliveClient.open(target);
        while (asked < end) {
          asked += 1;
          const start = random.int(65_536);
          const body = bytes.subarray(start, start + 1_024 + random.int(64_512));
          const head = `POST /echo HTTP/1.1\r\nHost: ${hostOf(NAME)}\r\nContent-Length: ${body.length}\r\n\r\n`;
          if (random.int(20) === 0) {
            // Given up in the middle of the request, or while the answer is on its way.
            const isHalf = random.int(2) === 0;
            client.socket.write(head);
            client.socket.write(isHalf ? body.subarray(0, body.length >> 1) : body);
            await pause(random.int(3));
            client.close();
            aborted += 1;
            client = await KeepAliveClient.open(target);
            continue;
          }
          try {
            if (isPlain && random.int(WRONG_KEY_EACH) === 0) {
              const { status } = await client.ask(
                `GET / HTTP/1.1\r\nHost: ${hostOf(GUARDED)}\r\nX-Api-Key: wrong ${asked}\r\n\r\n`,
              );
              if (status === 401) refused += 1;
              else wrong.push(`${status} for a wrong key`);
              continue;
            }
            const answer = await client.ask(head, body);
            if (answer.status === 200 && answer.body.equals(body)) good += 1;
            else wrong.push(`${answer.status}, ${answer.body.length} of ${body.length} bytes`);
          } catch (error) {
            wrong.push(String(error));
            client.close();
            client = await KeepAliveClient.open(target);
          }
        }
        client.close();
      };
      const run = (end: number): Promise<unknown> =>
        Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => work(index, end)));
      const startedMs = performance.now();
      await run(early);
      const memoryEarly = await restingMemory(pids);
      for (let end = early * 2; end <= total; end += early) {
        await run(end);
        context.progress(`${end} requests`);
      }
      const perSecond = Math.round((total * 1_000) / (performance.now() - startedMs));
      await pause(context.quick ? QUICK_QUIET_MS : QUIET_MS);
      const memoryLate = await restingMemory(pids);
      tally.count(good, wrong.length, `answers that were not given up (${wrong.slice(0, 3).join('; ')})`);
      tally.count(refused, 0, 'wrong keys are refused');
      tally.check(
        good + refused + wrong.length + aborted === asked && asked >= total,
        'every request is accounted for',
        () => JSON.stringify({ asked, good, refused, wrong: wrong.length, aborted }),
      );
      for (const [i, part] of WATCHED_PARTS.entries()) {
        tally.check(
          memoryLate[i]! <= memoryEarly[i]! * 1.1 + (context.quick ? QUICK_SLACK : SLACK),
          `${part}: memory stays`,
          () =>
            `${Math.round(memoryEarly[i]! / MIB)} MiB after ${early}, ${Math.round(memoryLate[i]! / MIB)} MiB after ${total}`,
        );
        if (context.quick) continue;
        const files = openFiles(pids[i]!);
        tally.check(
          files <= filesBefore[i]! + MAX_FILES_MORE,
          `${part}: open files come back`,
          () => `${filesBefore[i]} before, ${files} after`,
        );
      }
      context.note(
        `${asked} requests, ${aborted} given up, ${refused} refused, ${perSecond}/s; MiB after ${early}: ${inMib(memoryEarly)}, after ${total}: ${inMib(memoryLate)} (${WATCHED_PARTS.join(', ')})`,
      );
    } finally {
      await origin.stop();
    }
    return tally;
  },
};

/** Until wrong keys are refused there. */
async function guard(product: BatteryProduct, port: number): Promise<void> {
  await product.share(GUARDED, port);
  const data = {
    placement: 'header',
    name: 'X-Api-Key',
    keys: [{ name: 'only', key: 'the-key-of-the-soak' }],
  };
  const { call } = product.parts;
  const { id } = (await call('POST', '/auth-providers', { name: GUARDED, type: 'API_KEY', data })).json as {
    id: string;
  };
  await call('PATCH', `/shares/${GUARDED}`, { authProviderIds: [id] });
  await until(
    'the guarded share is guarded',
    async () => (await httpGet(product.plainPort, hostOf(GUARDED), '/')).status,
    (status) => status === 401,
  );
}

function inMib(values: readonly number[]): string {
  return values.map((value) => Math.round(value / MIB)).join(' / ');
}
