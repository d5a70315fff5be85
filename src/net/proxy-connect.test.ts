import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as net from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { Secret, silentLog } from '#base';
import { FrameHeaders, makeFrame } from '#wire';
import { makeTestAuthority } from '../../test/support/certificates.ts';
import { within } from '../../test/support/deadline.ts';
import { closeOf } from '../../test/support/socket-end.ts';
import { dialChannel, type DialChannelOptions } from './channel/channel-dialer.ts';
import { ChannelListener } from './channel/channel-listener.ts';
import type { Channel } from './channel/channel.ts';

const authority = await makeTestAuthority();
const server = await authority.issue('server');
const client = await authority.issue('client');

/** A proxy of the test's: `answer` is its response to the client, which is connected if that is a 200. */
async function openProxy(t: TestContext, answer: string | undefined) {
  const heads: string[] = [];
  const sockets: net.Socket[] = [];
  const proxy = net.createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.once('data', (chunk: Buffer) => {
      const head = chunk.toString();
      heads.push(head);
      if (answer === undefined) return;
      socket.write(answer);
      const [, port] = /^CONNECT [^ ]+:(\d+) /.exec(head) ?? [];
      if (!answer.includes(' 200')) return;
      const onward = net.connect(Number(port), '127.0.0.1');
      onward.on('error', () => {});
      sockets.push(onward);
      socket.pipe(onward).pipe(socket);
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (proxy.address() as net.AddressInfo).port, heads, sockets };
}

async function openListener(t: TestContext): Promise<ChannelListener> {
  const listener = await ChannelListener.open({
    host: '127.0.0.1',
    port: 0,
    tls: server,
    alpn: ['ziti-ctrl'],
    ownId: 'listener',
    allowGroups: false,
    log: silentLog,
    authorize: () => ({ accept: true }),
    onChannel: (channel) => channel.handle({ onFrame: (frame) => void channel.reply(frame, makeFrame(9)) }),
  });
  t.after(() => listener.close());
  return listener;
}

function dial(port: number, more: Partial<DialChannelOptions>): Promise<Channel> {
  return dialChannel({
    host: 'localhost',
    port,
    tls: client,
    alpn: 'ziti-ctrl',
    helloId: 'dialer',
    helloHeaders: FrameHeaders.empty,
    timeoutMs: 30_000,
    log: silentLog,
    ...more,
  });
}

describe('an HTTP proxy', () => {
  test('is asked for the address that is dialed, whose certificate is judged by that name', async (t) => {
    const listener = await openListener(t);
    const proxy = await openProxy(t, 'HTTP/1.1 200 Connection established\r\nX-Any: thing\r\n\r\n');
    const channel = await dial(listener.port, { proxy: { host: '127.0.0.1', port: proxy.port } });
    await channel.request(makeFrame(9), 30_000);
    channel.close('done');
    const target = `localhost:${listener.port}`;
    assert.equal(
      proxy.heads[0],
      `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nUser-Agent: frontdoor\r\n\r\n`,
    );
  });

  test('is shown its user and password', async (t) => {
    const listener = await openListener(t);
    const proxy = await openProxy(t, 'HTTP/1.1 200 OK\r\n\r\n');
    const access = { host: '127.0.0.1', port: proxy.port, username: 'mesh', password: new Secret('p:w') };
    (await dial(listener.port, { proxy: access })).close('done');
    const credentials = Buffer.from('mesh:p:w').toString('base64');
    assert.match(proxy.heads[0]!, new RegExp(`\\r\\nProxy-Authorization: Basic ${credentials}\\r\\n`));
  });

  test('that refuses is named with its answer, and never with the password', async (t) => {
    const proxy = await openProxy(t, 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const access = { host: '127.0.0.1', port: proxy.port, username: 'mesh', password: new Secret('secret') };
    await assert.rejects(dial(1, { proxy: access }), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'proxy-failed');
      assert.match(error.message, /^proxy 127\.0\.0\.1:\d+: answered "HTTP\/1\.1 407 Proxy Auth/);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
  });

  test('that answers too much, something else, or closes ends the dial', async (t) => {
    for (const answer of [
      'x'.repeat(10_000),
      `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(3_000)}`,
      'SSH-2.0-x\r\n\r\n',
    ]) {
      const { port } = await openProxy(t, answer);
      await assert.rejects(dial(1, { proxy: { host: '127.0.0.1', port } }), { code: 'proxy-failed' });
    }
    const closing = net.createServer((socket) => socket.destroy());
    closing.listen(0, '127.0.0.1');
    await once(closing, 'listening');
    const { port } = closing.address() as net.AddressInfo;
    await assert.rejects(dial(1, { proxy: { host: '127.0.0.1', port } }), { code: 'proxy-failed' });
    closing.close();
  });

  test('that sends nothing is closed at the deadline of the dial, and when the dial is aborted', async (t) => {
    const proxy = await openProxy(t, undefined);
    const access = { host: '127.0.0.1', port: proxy.port };
    await assert.rejects(dial(1, { proxy: access, timeoutMs: 100 }), { code: 'channel-timeout' });
    const stop = new AbortController();
    const dialing = dial(1, { proxy: access, signal: stop.signal });
    stop.abort();
    await assert.rejects(dialing, /given up/);
    await within('no connection', Promise.all(proxy.sockets.map((socket) => closeOf(socket))));
  });
});
