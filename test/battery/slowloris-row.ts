/**
 * L6: clients that send slowly or not at all: heads, bodies, handshakes, nothing after a handshake, nothing to a
 * router. They are cut within 15 s and bounded per address; a client from another address is served all the while.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { findCommand, startProcess } from '../support/child-process.ts';
import { hostOf, type BatteryProduct } from './battery-product.ts';
import { Tally, type BatteryRow, type BatteryRowContext } from './battery-row.ts';
import { askBytes, statusOf } from './bytes-client.ts';
import { openCrowd, type Crowd, type CrowdKind } from './slow-crowd.ts';
import { startLoadOrigin } from './load-origin.ts';

const NAME = 'l6-slow';
const CUT_MS = 15_000;
const NORMAL_ASKS = 100;
const NORMAL_MS = 1_000;
const NORMAL_ADDRESS = '127.0.0.2';
/** The gateway's default bound on connections of one address. */
const PER_ADDRESS = 1_024;

const KINDS: readonly CrowdKind[] = [
  'heads',
  'bodies',
  'silent',
  'half a TLS hello',
  'silent after TLS',
  'router',
];

export const SLOWLORIS_ROW: BatteryRow = {
  id: 'L6',
  title: 'slow clients are cut, and others are served',
  run: async (context, product) => {
    const tally = new Tally();
    const origin = await startLoadOrigin();
    try {
      await product.share(NAME, origin.port);
      const size = context.quick ? 200 : 5_000;
      for (const kind of KINDS) await runCrowd(tally, product, kind, size, context);
      if (!context.quick) {
        await runOneAddress(tally, product);
        await runSlowHttpTest(tally, product, context);
      }
    } finally {
      await origin.stop();
    }
    return tally;
  },
};

/** Routers bound the connections that have not sent a hello; gateways bound the connections of an address. */
async function runCrowd(
  tally: Tally,
  product: BatteryProduct,
  kind: CrowdKind,
  size: number,
  { note }: BatteryRowContext,
): Promise<void> {
  const crowd = await openCrowd(product, kind, hostOf(NAME), size);
  const served = await askNormally(product);
  tally.count(
    served.good,
    NORMAL_ASKS - served.good,
    `${kind}: a client of another address is served within 1 s`,
  );
  await crowd.over(CUT_MS + 5_000);
  const late = crowd.livesMs.filter((ms) => ms > CUT_MS).length;
  tally.count(crowd.livesMs.length - late, late + crowd.openCount, `${kind}: cut within 15 s`);
  note(`${kind}: ${sayCrowd(crowd)}; slowest normal answer ${served.slowestMs.toFixed(0)} ms`);
  crowd.close();
}

function sayCrowd({ livesMs, openCount, refused }: Crowd): string {
  return `${livesMs.length} cut, the last after ${(Math.max(0, ...livesMs) / 1_000).toFixed(1)} s, ${openCount} still open, ${refused} refused`;
}

async function askNormally(product: BatteryProduct): Promise<{ good: number; slowestMs: number }> {
  let good = 0;
  let slowestMs = 0;
  for (let i = 0; i < NORMAL_ASKS; i += 1) {
    const startedMs = performance.now();
    const answer = await askBytes(
      { ...product.target(i % 2 === 0 ? 'plain' : 'tls', NAME), localAddress: NORMAL_ADDRESS },
      `GET / HTTP/1.1\r\nHost: ${hostOf(NAME)}\r\nConnection: close\r\n\r\n`,
    ).catch((error: unknown) => String(error));
    const tookMs = performance.now() - startedMs;
    slowestMs = Math.max(slowestMs, tookMs);
    if (statusOf(answer) === 200 && tookMs < NORMAL_MS) good += 1;
    await pause(20);
  }
  return { good, slowestMs };
}

/** More from one address than it may have: the rest is refused, and others are served. */
async function runOneAddress(tally: Tally, product: BatteryProduct): Promise<void> {
  const beyond = 176;
  const sockets: Socket[] = [];
  let refused = 0;
  for (let i = 0; i < PER_ADDRESS + beyond; i += 1) {
    const socket = connect({ port: product.plainPort, host: '127.0.0.1', localAddress: '127.0.9.1' });
    socket.on('error', () => {});
    socket.on('close', () => (refused += 1));
    sockets.push(socket);
    if (i % 64 === 63) await pause(20);
  }
  await pause(1_000);
  tally.check(
    refused === beyond,
    `one address has ${PER_ADDRESS} connections at most`,
    () => `${refused} refused`,
  );
  const { good } = await askNormally(product);
  tally.check(
    good === NORMAL_ASKS,
    'another address is served in the meantime',
    () => `${good} of ${NORMAL_ASKS}`,
  );
  for (const socket of sockets) socket.destroy();
}

/** The tool that everyone uses, when it is here. */
async function runSlowHttpTest(
  tally: Tally,
  product: BatteryProduct,
  { note }: BatteryRowContext,
): Promise<void> {
  const command = findCommand('slowhttptest');
  if (command === undefined) {
    note('slowhttptest is not in PATH: its three attacks are left out');
    return;
  }
  const host = `${hostOf(NAME)}:${product.plainPort}`;
  for (const [attack, path] of [
    ['-H', '/'],
    ['-B', '/echo'],
    ['-X', '/bytes/1000000'],
  ] as const) {
    const tool = startProcess(command, [
      attack,
      '-c',
      '1000',
      '-r',
      '500',
      '-i',
      '5',
      '-l',
      '25',
      '-p',
      '3',
      '-u',
      `http://${host}${path}`,
    ]);
    await pause(3_000);
    const { good, slowestMs } = await askNormally(product);
    tally.count(
      good,
      NORMAL_ASKS - good,
      `slowhttptest ${attack}: a client of another address is served within 1 s`,
    );
    await tool.stop('SIGINT');
    note(`slowhttptest ${attack}: slowest normal answer ${slowestMs.toFixed(0)} ms`);
  }
}
