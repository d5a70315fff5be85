/**
 * L3: ten thousand idle TLS connections beside a hundred active ones, then ten thousand open WebSockets. All are
 * served, memory is bounded, and everything is given back when they go.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../support/deadline.ts';
import { residentBytes } from '../support/child-process.ts';
import { hostOf, type BatteryProduct } from './battery-product.ts';
import { Tally, type BatteryRow } from './battery-row.ts';
import { BytesClient } from './bytes-client.ts';
import { KeepAliveClient, p99 } from '../support/keep-alive-client.ts';
import { startLoadOrigin, type LoadOrigin } from './load-origin.ts';
import { MIB, openFiles } from './memory-watch.ts';

const NAME = 'l3-crowd';
const MAX_GATEWAY = 1_024 * MIB;
const MAX_P99_MS = 500;
const FREED_MS = 60_000;
const AT_ONCE = 100;
const ACTIVE_MS = 10_000;
const FILES_MORE = 5;

export const CROWD_ROW: BatteryRow = {
  id: 'L3',
  title: 'ten thousand connections are served and given back',
  product: { maxConnectionsPerAddress: 12_000 },
  run: async (context, product) => {
    const tally = new Tally();
    const size = context.quick ? 300 : 10_000;
    const origin = await startLoadOrigin();
    try {
      await product.share(NAME, origin.port);
      const filesBefore = openFiles(product.parts.gateway.pid);
      await runIdle(tally, product, size, context.note);
      await freed(tally, product, filesBefore, 'idle connections');
      await runWebSockets(tally, product, origin, size, context.note);
      await freed(tally, product, filesBefore, 'WebSockets');
    } finally {
      await origin.stop();
    }
    return tally;
  },
};

/** Opens many at a time; those that fail are left out. */
async function openMany<T>(size: number, open: (index: number) => Promise<T>): Promise<T[]> {
  const all: T[] = [];
  for (let at = 0; at < size; at += AT_ONCE) {
    const opened = await Promise.allSettled(
      Array.from({ length: Math.min(AT_ONCE, size - at) }, (_, i) => open(at + i)),
    );
    for (const result of opened) if (result.status === 'fulfilled') all.push(result.value);
  }
  return all;
}

async function runIdle(
  tally: Tally,
  product: BatteryProduct,
  size: number,
  note: (line: string) => void,
): Promise<void> {
  const request = `GET / HTTP/1.1\r\nHost: ${hostOf(NAME)}\r\n\r\n`;
  const startedMs = performance.now();
  const idle = await openMany(size, async () => {
    const client = await KeepAliveClient.open(product.target('tls', NAME), 60_000);
    const { status } = await client.ask(request, undefined, 60_000);
    if (status !== 200) throw new Error(`status ${status}`);
    return client;
  });
  tally.count(idle.length, size - idle.length, 'TLS connections are opened and served');
  const openedMs = performance.now() - startedMs;
  const active = await openMany(100, () =>
    KeepAliveClient.open({ ...product.target('tls', NAME), localAddress: '127.0.0.2' }),
  );
  const times: number[] = [];
  const endMs = performance.now() + ACTIVE_MS;
  let wrong = 100 - active.length;
  await Promise.all(
    active.map(async (client) => {
      while (performance.now() < endMs) {
        const askedMs = performance.now();
        const status = await client.ask(request).then(
          (answer) => answer.status,
          () => 0,
        );
        times.push(performance.now() - askedMs);
        if (status !== 200) wrong += 1;
        await pause(100);
      }
    }),
  );
  const memory = residentBytes(product.parts.gateway.pid);
  const open = idle.filter((client) => !client.isClosed).length;
  note(
    `${open} idle after ${(openedMs / 1_000).toFixed(0)} s of opening; gateway ${(memory / MIB).toFixed(0)} MiB; ` +
      `active p99 ${p99(times).toFixed(0)} ms`,
  );
  tally.check(memory <= MAX_GATEWAY, 'the gateway stays below 1 GiB');
  tally.count(times.length - wrong, wrong, 'active clients are served');
  tally.check(p99(times) < MAX_P99_MS, 'the active clients’ p99 is below 500 ms', () => `${p99(times)} ms`);
  for (const client of [...idle, ...active]) client.close();
}

async function runWebSockets(
  tally: Tally,
  product: BatteryProduct,
  origin: LoadOrigin,
  size: number,
  note: (line: string) => void,
): Promise<void> {
  const sockets = await openMany(size, async () => {
    const client = await BytesClient.open(product.target('plain', NAME));
    client.send(
      `GET /ws HTTP/1.1\r\nHost: ${hostOf(NAME)}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    await client.until('the switch', (text) => text.includes('\r\n\r\n'), 60_000);
    if (!client.received.startsWith('HTTP/1.1 101 ')) throw new Error(client.received.slice(0, 100));
    return client;
  });
  tally.count(sockets.length, size - sockets.length, 'WebSockets are opened');
  let echoed = 0;
  for (let at = 0; at < sockets.length; at += AT_ONCE) {
    await Promise.all(
      sockets.slice(at, at + AT_ONCE).map(async (client, i) => {
        const word = `frame ${at + i}.`;
        client.send(word);
        const text = await client.until('an echo', (all) => all.endsWith(word)).catch(() => '');
        if (text.endsWith(word)) echoed += 1;
      }),
    );
  }
  tally.count(echoed, sockets.length - echoed, 'WebSockets echo');
  const { openSockets } = await origin.counts();
  const memory = (['gateway', 'router', 'agent'] as const).map(
    (part) => `${part} ${(residentBytes(product.parts[part].pid) / MIB).toFixed(0)} MiB`,
  );
  note(`${openSockets} open at the service; ${memory.join(', ')}`);
  for (const client of sockets) client.close();
}

async function freed(
  tally: Tally,
  product: BatteryProduct,
  filesBefore: number,
  what: string,
): Promise<void> {
  const { value } = await until(
    'open files come back',
    () => openFiles(product.parts.gateway.pid),
    (files) => files <= filesBefore + FILES_MORE,
    FREED_MS,
  ).catch(() => ({ value: openFiles(product.parts.gateway.pid) }));
  tally.check(
    value <= filesBefore + FILES_MORE,
    `${what}: all are freed within 60 s`,
    () => `${filesBefore} open files before, ${value} after`,
  );
}
