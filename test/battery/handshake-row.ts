/**
 * L8: handshakes that begin and never end, 500 a second, and clients that ask for a second handshake: others are served,
 * what was begun is cut, and no second handshake is granted.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { until, within } from '../support/deadline.ts';
import { hostOf, type BatteryProduct } from './battery-product.ts';
import { Tally, type BatteryRow, type BatteryRowContext } from './battery-row.ts';
import { askBytes, statusOf } from './bytes-client.ts';
import { cpuMs, openFiles } from './memory-watch.ts';
import { RawOrigin } from './raw-origin.ts';
import { askToRenegotiate } from './renegotiation.ts';

const NAME = 'l8-raw';
const PER_SECOND = 500;
const NORMAL_ASKS = 100;
const NORMAL_MS = 1_000;
const CUT_MS = 15_000;
/** In the quick form the machine has other work: durations are printed, and only the long form checks them. */
const QUICK_MS = 30_000;
const PER_ADDRESS = 1_000;
const RENEGOTIATIONS = 20;

export const HANDSHAKE_ROW: BatteryRow = {
  id: 'L8',
  title: 'handshakes that never end slow nobody else down',
  run: async (context, product) => {
    const tally = new Tally();
    const seconds = context.quick ? 1 : 10;
    const cutMs = context.quick ? QUICK_MS : CUT_MS;
    const origin = await RawOrigin.start();
    const sockets: Socket[] = [];
    try {
      await product.share(NAME, origin.port);
      const filesBefore = openFiles(product.parts.gateway.pid);
      const hello = await clientHello(hostOf(NAME));
      const cpuBefore = cpuMs(product.parts.gateway.pid);
      const startMs = performance.now();
      let isOver = false;
      const flood = (async () => {
        for (let i = 0; i < PER_SECOND * seconds; i += 1) {
          const localAddress = `127.0.${20 + Math.floor(i / PER_ADDRESS)}.1`;
          const socket = connect({ port: product.securePort, host: '127.0.0.1', localAddress });
          socket.on('error', () => {});
          socket.on('connect', () => socket.write(hello));
          sockets.push(socket);
          if (i % 5 === 4) await pause(10);
        }
        isOver = true;
      })();
      const renegotiating = renegotiate(tally, product, context);
      let [good, asked, slowestMs] = [0, 0, 0];
      while (!isOver || asked < NORMAL_ASKS) {
        const startedMs = performance.now();
        const answer = await askBytes(
          { ...product.target('tls', NAME), localAddress: '127.0.0.2' },
          `GET / HTTP/1.1\r\nHost: ${hostOf(NAME)}\r\nConnection: close\r\n\r\n`,
          QUICK_MS,
        ).catch((error: unknown) => String(error));
        const tookMs = performance.now() - startedMs;
        slowestMs = Math.max(slowestMs, tookMs);
        asked += 1;
        if (statusOf(answer) === 200 && (context.quick || tookMs < NORMAL_MS)) good += 1;
        await pause(20);
      }
      await flood;
      const cpuPart = (cpuMs(product.parts.gateway.pid) - cpuBefore) / (performance.now() - startMs);
      await renegotiating;
      tally.count(good, asked - good, `others are served${context.quick ? '' : ' within 1 s'}`);
      const { tookMs } = await until(
        'handshakes that never end are cut',
        () => openFiles(product.parts.gateway.pid) - filesBefore,
        (more) => more <= 5,
        cutMs,
      ).catch(() => ({ tookMs: Infinity }));
      tally.check(
        tookMs < (context.quick ? Infinity : CUT_MS),
        `unfinished handshakes are cut${context.quick ? '' : ' within 15 s'}`,
      );
      context.note(
        `${sockets.length} handshakes begun; the gateway used ${(cpuPart * 100).toFixed(0)} % of a core; slowest other answer ${slowestMs.toFixed(0)} ms; all cut ${(tookMs / 1_000).toFixed(1)} s after the last`,
      );
    } finally {
      for (const socket of sockets) socket.destroy();
      await origin.close();
    }
    return tally;
  },
};

/** While handshakes are begun. */
async function renegotiate(tally: Tally, product: BatteryProduct, context: BatteryRowContext): Promise<void> {
  for (let i = 0; i < (context.quick ? 2 : RENEGOTIATIONS); i += 1) {
    const asked = await askToRenegotiate(product.securePort, hostOf(NAME));
    if (asked === undefined) {
      context.note('openssl is not in PATH: renegotiation is left out');
      return;
    }
    tally.check(!asked.isGranted, 'no second handshake is granted', () => asked.text.slice(-300));
  }
}

/** The first bytes of a client. */
async function clientHello(servername: string): Promise<Buffer> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connectTls({ port, host: '127.0.0.1', servername });
  client.on('error', () => {});
  try {
    const [accepted] = (await within('a connection', once(server, 'connection'))) as [Socket];
    const [bytes] = (await within('a hello', once(accepted, 'data'))) as [Buffer];
    accepted.destroy();
    return bytes;
  } finally {
    client.destroy();
    server.close();
  }
}
