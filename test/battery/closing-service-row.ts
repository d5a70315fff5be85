/**
 * H10: requests that cannot be repeated, at random intervals around the time after which their service closes idle connections:
 * none meets that close. The services are Node's server with the keep-alive of Node, announced and not, and that of gunicorn.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { KeepAliveClient } from '../support/keep-alive-client.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { hostOf, type BatteryProduct } from './battery-product.ts';
import { Tally, type BatteryRow } from './battery-row.ts';

interface ClosingKind {
  readonly name: string;
  readonly keepAliveMs: number;
  readonly isAnnounced: boolean;
}

const KINDS: readonly ClosingKind[] = [
  { name: 'h10-node', keepAliveMs: 5_000, isAnnounced: true },
  { name: 'h10-silent', keepAliveMs: 5_000, isAnnounced: false },
  { name: 'h10-gunicorn', keepAliveMs: 2_000, isAnnounced: false },
];
/** Intervals are so far from the keep-alive at most. */
const AROUND_MS = 500;
/** Each share has one client, so that its circuits are as old as the interval. */
const FULL = { sharesPerKind: 66, requestsPerShare: 51 };
const QUICK = { sharesPerKind: 4, requestsPerShare: 2 };

export const CLOSING_SERVICE_ROW: BatteryRow = {
  id: 'H10',
  title: 'requests that cannot be repeated meet no connection that the service is closing',
  run: async ({ quick, seed, note, progress }, product) => {
    const tally = new Tally();
    const { sharesPerKind, requestsPerShare } = quick ? QUICK : FULL;
    const servers: Server[] = [];
    try {
      const clients: Promise<number>[] = [];
      for (const kind of KINDS) {
        const server = await closingServer(kind);
        servers.push(server);
        for (let i = 0; i < sharesPerKind; i += 1) {
          const name = `${kind.name}-${i}`;
          await product.share(name, (server.address() as AddressInfo).port);
          const random = new SeededRandom(seed + clients.length);
          clients.push(lostOf(product, name, kind, { requests: requestsPerShare, random, note }));
        }
        progress(`${kind.name}: ${sharesPerKind} shares`);
      }
      const lost = (await Promise.all(clients)).reduce((sum, each) => sum + each, 0);
      const total = clients.length * requestsPerShare;
      tally.count(total - lost, lost, 'POSTs are answered by their service');
    } finally {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    }
    return tally;
  },
};

interface ClosingLoad {
  readonly requests: number;
  readonly random: SeededRandom;
  readonly note: (line: string) => void;
}

/** Returns how many of a client's requests were not answered by the service. */
async function lostOf(
  product: BatteryProduct,
  name: string,
  { keepAliveMs }: ClosingKind,
  { requests, random, note }: ClosingLoad,
): Promise<number> {
  let lost = 0;
  let client: KeepAliveClient | undefined;
  for (let i = 0; i < requests; i += 1) {
    const intervalMs = keepAliveMs - AROUND_MS + random.int(2 * AROUND_MS);
    await pause(intervalMs);
    try {
      if (client === undefined || client.isClosed)
        client = await KeepAliveClient.open(product.target('plain', name));
      const { status, body } = await client.ask(
        `POST / HTTP/1.1\r\nHost: ${hostOf(name)}\r\nContent-Length: 2\r\n\r\nhi`,
      );
      if (status === 200 && body.toString() === 'done') continue;
      note(`${name} after ${intervalMs} ms: ${status} ${body.toString().slice(0, 200)}`);
    } catch (error) {
      note(`${name} after ${intervalMs} ms: ${String(error)}`);
    }
    lost += 1;
  }
  client?.close();
  return lost;
}

async function closingServer({ keepAliveMs, isAnnounced }: ClosingKind): Promise<Server> {
  const server = createServer((request, response) => {
    // Node announces its timeout only when it writes this header itself.
    if (!isAnnounced) response.setHeader('Connection', 'keep-alive');
    request.on('error', () => {});
    request.resume().on('end', () => response.setHeader('Content-Length', 4).end('done'));
  });
  server.keepAliveTimeout = keepAliveMs;
  // Node closes a second later than it announces by default, for clients that are late.
  server.keepAliveTimeoutBuffer = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
