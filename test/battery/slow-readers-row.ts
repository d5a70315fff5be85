/**
 * L2: a thousand readers that take nothing of a large answer. All parts together grow by at most 1 GiB, and a fast
 * client is served in the meantime.
 */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { hostOf } from './battery-product.ts';
import { Tally, type BatteryRow } from './battery-row.ts';
import { BytesClient } from './bytes-client.ts';
import { KeepAliveClient, p99 } from '../support/keep-alive-client.ts';
import { startLoadOrigin } from './load-origin.ts';
import { MemoryWatch, MIB } from './memory-watch.ts';

const NAME = 'l2-slow';
const MAX_GROWTH = 1_024 * MIB;
const MAX_P99_MS = 500;
const EACH_BYTES = 64 * MIB;
const AT_ONCE = 50;
const STILL_MS = 2_000;
const FILL_MS = 120_000;
const LIMIT_FILE = '/proc/sys/net/ipv4/tcp_mem';

export const SLOW_READERS_ROW: BatteryRow = {
  id: 'L2',
  title: 'a thousand slow readers cost at most 1 GiB',
  needsSetUpKernel: true,
  run: async (context, product) => {
    const tally = new Tally();
    const readers = context.quick ? 100 : 1_000;
    const asks = context.quick ? 200 : 1_000;
    const origin = await startLoadOrigin();
    const slow: BytesClient[] = [];
    try {
      await product.share(NAME, origin.port);
      const fast = await KeepAliveClient.open({ ...product.target('tls', NAME), localAddress: '127.0.0.2' });
      const request = `GET / HTTP/1.1\r\nHost: ${hostOf(NAME)}\r\n\r\n`;
      for (let i = 0; i < 50; i += 1) await fast.ask(request);
      const watch = await MemoryWatch.start(product);
      const open = async (index: number): Promise<void> => {
        const client = await BytesClient.open(product.target(index % 2 === 0 ? 'plain' : 'tls', NAME));
        client.socket.pause();
        client.send(`GET /bytes/${EACH_BYTES} HTTP/1.1\r\nHost: ${hostOf(NAME)}\r\n\r\n`);
        slow.push(client);
      };
      for (let at = 0; at < readers; at += AT_ONCE) {
        await Promise.all(Array.from({ length: Math.min(AT_ONCE, readers - at) }, (_, i) => open(at + i)));
      }
      // Until the buffers of all sockets on the way are full, a thousand downloads run at full speed.
      const filling = await askUntil(fast, request, async () => {
        const before = (await origin.counts()).produced;
        await pause(STILL_MS);
        return (await origin.counts()).produced - before < MIB;
      });
      const times: number[] = [];
      for (let i = 0; i < asks; i += 1) {
        const startedMs = performance.now();
        const { status } = await fast.ask(request);
        times.push(performance.now() - startedMs);
        tally.check(status === 200, 'the fast client is served');
        await pause(10);
      }
      const { produced } = await origin.counts();
      const kernel = kernelShare();
      watch.stop();
      const held = slow.filter((client) => client.isOpen).length;
      context.note(
        `${held} readers held; ${watch.toString()}, together +${(watch.sumGrowth / MIB).toFixed(0)} MiB; ` +
          `${(produced / MIB / readers).toFixed(2)} MiB produced for each; fast client p99 ${p99(times).toFixed(0)} ms, ` +
          `while the buffers filled ${p99(filling.times).toFixed(0)} ms; ${kernel}`,
      );
      tally.check(
        filling.unserved === 0,
        'the fast client is served while the buffers fill',
        () => `${filling.unserved} of ${filling.times.length} answers were not 200`,
      );
      tally.check(held === readers, 'no slow reader is cut', () => `${held} of ${readers}`);
      tally.check(watch.sumGrowth <= MAX_GROWTH, 'all parts together grow by at most 1 GiB');
      tally.check(p99(times) < MAX_P99_MS, 'the fast client’s p99 is below 500 ms', () => `${p99(times)} ms`);
      fast.close();
    } finally {
      for (const client of slow) client.close();
      await origin.stop();
    }
    return tally;
  },
};

/**
 * The memory that all sockets of the machine hold, those of the service and of the clients included. At its limit the
 * kernel drops packets of all sockets, and the times of the fast client no longer measure the product. It takes 2.5
 * MiB for each slow reader, unless it is set to accept few bytes that cannot be sent yet.
 */
function kernelShare(): string {
  const mib = (pages: string | undefined): string => ((Number(pages) * 4_096) / MIB).toFixed(0);
  const held = /^TCP:.* mem (\d+)/m.exec(readFileSync('/proc/net/sockstat', 'utf8'))?.[1];
  // A namespace of one's own shares the limit and does not show it.
  const limit = existsSync(LIMIT_FILE) ? readFileSync(LIMIT_FILE, 'utf8').trim().split(/\s+/)[2] : undefined;
  const most = limit === undefined ? '' : ` of at most ${mib(limit)}`;
  return `the kernel's TCP buffers held ${mib(held)}${most} MiB`;
}

/** The times of answers while `isOver` does not hold yet, for two minutes at most. */
async function askUntil(
  client: KeepAliveClient,
  request: string,
  isOver: () => Promise<boolean>,
): Promise<{ readonly times: readonly number[]; readonly unserved: number }> {
  const times: number[] = [];
  const endMs = performance.now() + FILL_MS;
  let isFull = false;
  let unserved = 0;
  const looking = (async () => {
    while (!isFull && performance.now() < endMs) isFull = await isOver();
    isFull = true;
  })();
  while (!isFull) {
    const startedMs = performance.now();
    const { status } = await client.ask(request, undefined, FILL_MS);
    times.push(performance.now() - startedMs);
    if (status !== 200) unserved += 1;
    await pause(10);
  }
  await looking;
  return { times, unserved };
}
