import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as net from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { Secret, silentLog } from '#base';
import { FrameHeaders, makeFrame } from '#wire';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import { within } from '../../../test/support/deadline.ts';
import { closeOf } from '../../../test/support/socket-end.ts';
import { dialChannel, type DialChannelOptions } from '../channel/channel-dialer.ts';
import { ChannelListener } from '../channel/channel-listener.ts';
import type { Channel } from '../channel/channel.ts';
import type { HostLookup } from '../names/host-lookup.ts';
import { dialerThrough, OutwardDialer } from './outward-dialer.ts';
import { proxyChoiceOf } from './proxy-choice.ts';

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

const through = (proxy: Parameters<typeof dialerThrough>[0]) => dialerThrough(proxy, 'the test');

describe('an HTTP proxy', () => {
  test('is asked for the address that is dialed, whose certificate is judged by that name', async (t) => {
    const listener = await openListener(t);
    const proxy = await openProxy(t, 'HTTP/1.1 200 Connection established\r\nX-Any: thing\r\n\r\n');
    const channel = await dial(listener.port, { outward: through({ host: '127.0.0.1', port: proxy.port }) });
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
    (await dial(listener.port, { outward: through(access) })).close('done');
    const credentials = Buffer.from('mesh:p:w').toString('base64');
    assert.match(proxy.heads[0]!, new RegExp(`\\r\\nProxy-Authorization: Basic ${credentials}\\r\\n`));
  });

  test('that refuses is named with its answer, and never with the password', async (t) => {
    const proxy = await openProxy(t, 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const access = { host: '127.0.0.1', port: proxy.port, username: 'mesh', password: new Secret('secret') };
    await assert.rejects(dial(1, { outward: through(access) }), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'proxy-failed');
      assert.match(
        error.message,
        /^the proxy http:\/\/127\.0\.0\.1:\d+ of the test: it answered "HTTP\/1\.1 407 Proxy Authentication Required": it does not accept the user and the password$/,
      );
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
      await assert.rejects(dial(1, { outward: through({ host: '127.0.0.1', port }) }), {
        code: 'proxy-failed',
      });
    }
    const closing = net.createServer((socket) => socket.destroy());
    closing.listen(0, '127.0.0.1');
    await once(closing, 'listening');
    const { port } = closing.address() as net.AddressInfo;
    await assert.rejects(dial(1, { outward: through({ host: '127.0.0.1', port }) }), {
      code: 'proxy-failed',
    });
    closing.close();
  });

  test('that sends nothing is closed at the deadline of the dial, and when the dial is aborted', async (t) => {
    const proxy = await openProxy(t, undefined);
    const access = { host: '127.0.0.1', port: proxy.port };
    await assert.rejects(dial(1, { outward: through(access), timeoutMs: 100 }), { code: 'channel-timeout' });
    const stop = new AbortController();
    const dialing = dial(1, { outward: through(access), signal: stop.signal });
    stop.abort();
    await assert.rejects(dialing, /given up/);
    await within('no connection', Promise.all(proxy.sockets.map((socket) => closeOf(socket))));
  });
});

/** A SOCKS 5 proxy of the test's that leads everything to 127.0.0.1; `code` is its reply. */
async function openSocks(t: TestContext, { code = 0, user = '' } = {}) {
  const asked: string[] = [];
  const sockets: net.Socket[] = [];
  const proxy = net.createServer(async (socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    const next = async (): Promise<Buffer> => ((await once(socket, 'data')) as [Buffer])[0];
    const greeting = await next();
    if (!greeting.subarray(2).includes(user === '' ? 0 : 2)) return socket.end(Uint8Array.of(5, 0xff));
    socket.write(Uint8Array.of(5, user === '' ? 0 : 2));
    if (user !== '') {
      const given = await next();
      const name = given.subarray(2, 2 + given[1]!).toString();
      const password = given.subarray(3 + given[1]!).toString();
      socket.write(Uint8Array.of(1, `${name}:${password}` === user ? 0 : 1));
      if (`${name}:${password}` !== user) return socket.end();
    }
    const request = await next();
    const port = request.readUInt16BE(request.length - 2);
    const kind = request[3];
    const host = kind === 3 ? request.subarray(5, -2).toString() : [...request.subarray(4, -2)].join('.');
    asked.push(`${host}:${port}`);
    if (code !== 0) return socket.end(Uint8Array.of(5, code, 0, 1, 0, 0, 0, 0, 0, 0));
    const onward = net.connect(port, '127.0.0.1').on('error', () => {});
    sockets.push(onward);
    await once(onward, 'connect');
    socket.write(Uint8Array.of(5, 0, 0, 3, 1, 97, 0, 0));
    return socket.pipe(onward).pipe(socket);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  return { at: `127.0.0.1:${(proxy.address() as net.AddressInfo).port}`, asked };
}

/** Names that are not this machine's are resolved to it, so that the proxies are used. */
function outwardBy(url: string): OutwardDialer {
  const proxies = proxyChoiceOf({}, new Secret(url));
  const lookup: HostLookup = (_host, _options, done) =>
    process.nextTick(done, null, [{ address: '127.0.0.1', family: 4 }]);
  return new OutwardDialer({ proxies: ({ port }) => proxies({ host: 'server.example', port }), lookup });
}

describe('a SOCKS proxy', () => {
  test('is given the name of the server, or its address if this machine resolves it', async (t) => {
    const listener = await openListener(t);
    const proxy = await openSocks(t);
    for (const scheme of ['socks5h', 'socks5']) {
      const channel = await dial(listener.port, { outward: outwardBy(`${scheme}://${proxy.at}`) });
      await channel.request(makeFrame(9), 30_000);
      channel.close('done');
    }
    assert.deepEqual(proxy.asked, [`localhost:${listener.port}`, `127.0.0.1:${listener.port}`]);
  });

  test('is shown user and password if it requires them', async (t) => {
    const listener = await openListener(t);
    const { at } = await openSocks(t, { user: 'mesh:p@w' });
    (await dial(listener.port, { outward: outwardBy(`socks5h://mesh:p%40w@${at}`) })).close('done');
    const refused = (url: string, text: RegExp) =>
      assert.rejects(dial(1, { outward: outwardBy(url) }), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'proxy-failed');
        assert.match(error.message, text);
        assert.doesNotMatch(error.message, /canary/);
        return true;
      });
    await refused(`socks5h://mesh:canary@${at}`, /it does not accept the user and the password$/);
    await refused(`socks5h://${at}`, /it requires a user and a password/);
  });

  test('that does not connect is named with its reason', async (t) => {
    const { at } = await openSocks(t, { code: 4 });
    const text = `the proxy socks5h://${at} of --proxy: it did not connect to localhost:1: the host cannot be reached, or its name cannot be resolved (4)`;
    await assert.rejects(dial(1, { outward: outwardBy(`socks5h://${at}`) }), { message: text });
    const { port } = await openProxy(t, 'HTTP/1.1 400 Bad Request\r\n\r\n');
    await assert.rejects(
      dial(1, { outward: outwardBy(`socks5h://127.0.0.1:${port}`) }),
      /it is no SOCKS 5 proxy/,
    );
  });
});

test('a proxy that refuses connections is named with what failed', async () => {
  await assert.rejects(dial(1, { outward: outwardBy('http://127.0.0.1:1') }), {
    code: 'proxy-failed',
    message:
      'the proxy http://127.0.0.1:1 of --proxy: it cannot be reached: connect ECONNREFUSED 127.0.0.1:1',
  });
});
