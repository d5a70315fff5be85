import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { test, type TestContext } from 'node:test';
import { makeTestAuthority } from '../support/certificates.ts';
import { checkedLoad, Downloader, get, openIdle } from './check-client.ts';

const LOAD = { requests: 2_000, connections: 4, smallBody: 'small' };

/** A backend that behaves like the private service, unless `answer` answers first. */
async function serve(
  t: TestContext,
  answer: (path: string) => string | undefined = () => undefined,
): Promise<number> {
  const handler: RequestListener = ({ url = '' }, response) => {
    response.end(answer(url) ?? (url.startsWith('/unique/') ? `you asked ${url}\n` : 'small'));
  };
  // Longer than a machine stands still: an idle connection ends with its client.
  const server = createServer({ keepAliveTimeout: 120_000 }, handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test('a checked load counts its requests, every thousandth of them unique', async (t) => {
  const port = await serve(t);
  assert.deepEqual(await checkedLoad({ port, host: 'x' }, LOAD), { requests: 2_000, unique: 2 });
});

test('a unique answer that comes from a cache fails the run', async (t) => {
  const port = await serve(t, (path) =>
    path.startsWith('/unique/') ? 'you asked /unique/before\n' : undefined,
  );
  await assert.rejects(checkedLoad({ port, host: 'x' }, LOAD), /other bytes/);
});

test('one wrong byte in a small answer fails the run', async (t) => {
  let left = 700;
  const port = await serve(t, () => ((left -= 1) === 0 ? 'smalL' : undefined));
  await assert.rejects(checkedLoad({ port, host: 'x' }, LOAD), /other bytes/);
});

test('an answer in chunks is read like one with a length', async (t) => {
  const server = createServer((_request, response) => {
    response.write('sm');
    response.end('all');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  assert.deepEqual(await get({ port, host: 'x' }, '/'), { status: 200, body: 'small' });
});

test('a download is timed when it is whole and refused when a byte differs', async (t) => {
  const text = 'download '.repeat(50_000);
  const sha256 = createHash('sha256').update(text).digest('hex');
  const port = await serve(t, (path) =>
    path === '/bad' ? `D${text.slice(1)}` : path === '/short' ? 'x' : text,
  );
  const downloader = new Downloader({ bytes: text.length, sha256 });
  assert.ok((await downloader.run({ port, host: 'x' }, '/download')) > 0);
  await assert.rejects(downloader.run({ port, host: 'x' }, '/bad'), /SHA-256/);
  await assert.rejects(downloader.run({ port, host: 'x' }, '/short'), /not the download/);
});

test('a download that breaks off is an error, not a result', async (t) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('x'.repeat(400), () => response.socket?.destroySoon());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const downloader = new Downloader({ bytes: 1_000, sha256: '' });
  await assert.rejects(
    downloader.run({ port: (server.address() as AddressInfo).port, host: 'x' }, '/'),
    /closed after 400 of 1000/,
  );
});

test('idle connections were each answered once, and close together', async (t) => {
  const port = await serve(t);
  const close = await openIdle({ port, host: 'x' }, 120);
  close();
});

test('over TLS the server name is the host, and header fields go with every request', async (t) => {
  const authority = await makeTestAuthority();
  const { cert, key, ca } = await authority.issue('share.example', { dns: ['share.example'] });
  const server = createSecureServer({ cert, key }, ({ headers, socket }, response) => {
    const { servername } = socket as TLSSocket;
    response.end(`${String(servername)} ${headers.host} ${String(headers['x-api-key'])}`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const door = { port, host: 'share.example', ca, headers: { 'x-api-key': 'k' } };
  const answer = await get(door, '/');
  assert.deepEqual(answer, { status: 200, body: 'share.example share.example k' });
  await assert.rejects(get({ ...door, host: 'other.example' }, '/'), /altnames/i);
});
