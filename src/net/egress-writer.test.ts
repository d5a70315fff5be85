import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { FrontdoorError } from '#base';
import { parseAllowedNetworks } from '#domain';
import { makeTestAuthority, type TestIdentity } from '../../test/support/certificates.ts';
import { closerOf } from '../../test/support/server-sockets.ts';
import { writeToEgress, type EgressWriterOptions } from './egress-writer.ts';

const never = new AbortController().signal;
const closers: (() => void)[] = [];
let identity: TestIdentity;
let received = '';

const keep = (socket: Socket): void => {
  received = '';
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
};

async function listen(server: Server): Promise<number> {
  closers.push(closerOf(server));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

const write = (
  target: { readonly host?: string; readonly port: number; readonly isTls: boolean },
  bytes = 'a line',
  options: Partial<EgressWriterOptions> = {},
) =>
  writeToEgress(
    { host: '127.0.0.1', ...target },
    Buffer.from(bytes),
    {
      allowed: parseAllowedNetworks('--allow-egress', ['127.0.0.1:*']),
      timeoutMs: 30_000,
      ca: identity.ca,
      ...options,
    },
    never,
  );
const refusal = (code: string) => (error: unknown) => error instanceof FrontdoorError && error.code === code;

describe('bytes for a server that another party names', () => {
  before(async () => {
    identity = await makeTestAuthority().then((authority) => authority.issue('syslog'));
  });
  after(() => {
    for (const close of closers) close();
  });

  it('arrive whole, with and without TLS', async () => {
    const plain = await listen(createServer(keep));
    await write({ port: plain, isTls: false }, 'plain');
    assert.equal(received, 'plain');
    const secure = await listen(createTlsServer({ cert: identity.cert, key: identity.key }, keep));
    const long = 'x'.repeat(1_000_000);
    await write({ port: secure, isTls: true }, long);
    assert.equal(received.length, long.length);
  });

  it('go to no address that is not allowed, and to no certificate that is not trusted', async () => {
    const secure = await listen(createTlsServer({ cert: identity.cert, key: identity.key }, keep));
    await assert.rejects(
      write({ port: secure, isTls: true }, 'a', { allowed: [] }),
      refusal('egress-refused'),
    );
    await assert.rejects(
      write({ port: secure, isTls: true }, 'a', { ca: undefined }),
      refusal('unreachable'),
    );
    const lookup = async () => [{ address: '10.0.0.1', family: 4 }];
    const named = { host: 'siem.example.com', port: 6514, isTls: true };
    await assert.rejects(write(named, 'a', { allowed: [], lookup }), refusal('egress-refused'));
  });

  it('have failed when the server breaks off, or does not close the connection in time', async () => {
    const breaking = await listen(createServer((socket) => socket.on('error', () => {}).resetAndDestroy()));
    await assert.rejects(
      write({ port: breaking, isTls: false }, 'x'.repeat(1_000_000)),
      refusal('unreachable'),
    );
    const deaf = await listen(createServer({ pauseOnConnect: true, allowHalfOpen: true }, () => {}));
    await assert.rejects(
      write({ port: deaf, isTls: false }, 'a', { timeoutMs: 200 }),
      refusal('server-silent'),
    );
  });

  it('have failed when the server closes the connection before it had all of them', async () => {
    const ending = createServer((socket) => void socket.on('error', () => {}).end());
    const leaving = createServer((socket) => void socket.on('error', () => {}).destroy());
    for (const server of [ending, leaving]) {
      const port = await listen(server);
      await assert.rejects(write({ port, isTls: false }), refusal('unreachable'));
    }
  });
});
