/**
 * H7: two organizations with two shares each, requests with unique bodies interleaved over kept connections. Every
 * answer is the asked share's own, with the body that was sent.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SeededRandom } from '../support/seeded-random.ts';
import { hostOf } from './battery-product.ts';
import { Tally, type BatteryRow } from './battery-row.ts';
import { KeepAliveClient } from '../support/keep-alive-client.ts';
import { startSecondTenant } from './second-tenant.ts';

const SHARES = ['h7-a1', 'h7-a2', 'h7-b1', 'h7-b2'] as const;
const CONNECTIONS = 40;
const MAX_BODY = 4_096;

export const ISOLATION_ROW: BatteryRow = {
  id: 'H7',
  title: 'nothing crosses between shares and organizations',
  run: async (context, product) => {
    const tally = new Tally();
    const servers: Server[] = [];
    const second = await startSecondTenant(product, 'h7');
    try {
      for (const name of SHARES) {
        const server = await echoAs(name);
        servers.push(server);
        const { port } = server.address() as AddressInfo;
        await product.share(name, port, name.startsWith('h7-b') ? second.agentSocket : undefined);
      }
      const total = context.quick ? 1_000 : 10_000;
      let left = total;
      let good = 0;
      const crossed: string[] = [];
      const work = async (index: number): Promise<void> => {
        const random = new SeededRandom(context.seed + index);
        const isPlain = index % 2 === 0;
        const own = SHARES[(index >> 1) % SHARES.length]!;
        const client = await KeepAliveClient.open(product.target(isPlain ? 'plain' : 'tls', own));
        for (let turn = 0; left > 0; turn += 1) {
          left -= 1;
          // A TLS connection is its server name's; a plain one may ask for any share.
          const name = isPlain ? random.pick(SHARES) : own;
          const body = Buffer.from(`${name} ${index} ${turn} `.padEnd(1 + random.int(MAX_BODY), 'unique'));
          const answer = await client.ask(
            `POST /${index}/${turn} HTTP/1.1\r\nHost: ${hostOf(name)}\r\nContent-Length: ${body.length}\r\n\r\n`,
            body,
          );
          const expected = `${name} /${index}/${turn} ${body.toString()}`;
          if (answer.status === 200 && answer.body.toString() === expected) good += 1;
          else
            crossed.push(`${expected.slice(0, 60)}: ${answer.status} ${answer.body.toString().slice(0, 60)}`);
        }
        client.close();
      };
      await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => work(index)));
      tally.count(
        good,
        total - good,
        `answers are the asked share’s own (${crossed.slice(0, 3).join('; ')})`,
      );
    } finally {
      await second.stop();
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    }
    return tally;
  },
};

async function echoAs(name: string): Promise<Server> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('error', () => {});
    request.on('end', () => response.end(`${name} ${request.url} ${Buffer.concat(pieces).toString()}`));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
