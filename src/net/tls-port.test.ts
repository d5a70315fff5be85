import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import * as net from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import * as tls from 'node:tls';
import { FrontdoorError, silentLog } from '#base';
import { within } from '../../test/support/deadline.ts';
import { makeTestAuthority, type TestIdentity } from '../../test/support/certificates.ts';
import { freePort } from '../../test/support/free-port.ts';
import { closeOf } from '../../test/support/socket-end.ts';
import type { ServerTls } from './server-certificates.ts';
import { TlsPorts } from './tls-ports.ts';
import type { TlsPort } from './tls-port.ts';

const authority = await makeTestAuthority();
const server = await authority.issue('router');
const client = await authority.issue('client');
const PLAIN: ServerTls = { default: server, alternates: [] };

async function openPort(
  t: TestContext,
  tlsOf: ServerTls = PLAIN,
  handshakeTimeoutMs = 60_000,
): Promise<{ port: TlsPort; ports: TlsPorts }> {
  const ports = new TlsPorts({ log: silentLog });
  t.after(() => ports.close());
  return { ports, port: await ports.open({ host: '127.0.0.1', port: 0, tls: tlsOf, handshakeTimeoutMs }) };
}

/** Handles protocols by saying a name. */
function speak(port: TlsPort, name: string, protocols: readonly string[]): () => void {
  return port.handle(protocols, (socket) => socket.on('error', () => {}).end(name), { name });
}

interface Answer {
  readonly said: string;
  readonly protocol: string | false;
  readonly commonName: string;
}

/** The protocol that a client with this offer gets, or the code of its failure. */
async function ask(port: TlsPort, protocols: string[] | undefined, more: tls.ConnectionOptions = {}) {
  const socket = tls.connect({
    host: '127.0.0.1',
    port: port.port,
    ca: authority.ca,
    servername: 'localhost',
    ALPNProtocols: protocols,
    ...more,
  });
  const { promise, resolve } = Promise.withResolvers<Answer | string>();
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  socket.on('end', () =>
    resolve({
      said: Buffer.concat(chunks).toString(),
      protocol: socket.alpnProtocol ?? false,
      commonName: commonNameOf(socket),
    }),
  );
  const answer = await within('an answer', promise);
  socket.destroy();
  return answer;
}

function commonNameOf(socket: tls.TLSSocket): string {
  const { subject } = new X509Certificate(socket.getPeerCertificate().raw);
  return subject.replace('CN=', '');
}

async function said(...args: Parameters<typeof ask>): Promise<string> {
  const answer = await ask(...args);
  return typeof answer === 'string' ? answer : answer.said;
}

describe('a TLS port', () => {
  test('passes a connection to the handler of its protocol', async (t) => {
    const { port } = await openPort(t);
    speak(port, 'link', ['ziti-link']);
    speak(port, 'ctrl', ['ziti-ctrl']);
    speak(port, 'edge', ['ziti-edge', '']);
    assert.equal(await said(port, ['ziti-link']), 'link');
    assert.equal(await said(port, ['ziti-ctrl']), 'ctrl');
    assert.equal(await said(port, ['ziti-edge']), 'edge');
  });

  test('selects the last of the client’s protocols that has a handler, and sends it', async (t) => {
    const { port } = await openPort(t);
    speak(port, 'link', ['ziti-link']);
    speak(port, 'ctrl', ['ziti-ctrl']);
    const answer = await ask(port, ['ziti-link', 'ziti-ctrl', 'unknown']);
    assert.deepEqual(answer, { said: 'ctrl', protocol: 'ziti-ctrl', commonName: 'router' });
  });

  test('answers the nearest of a handler’s own protocols', async (t) => {
    const { port } = await openPort(t);
    speak(port, 'web', ['h2', 'http/1.1', '']);
    const answer = await ask(port, ['h2', 'http/1.1']);
    assert.equal((answer as Answer).protocol, 'h2');
  });

  test('gives clients without a protocol to the only handler, or to the one for such clients', async (t) => {
    const { port } = await openPort(t);
    speak(port, 'link', ['ziti-link']);
    assert.equal(await said(port, undefined), 'link');
    speak(port, 'edge', ['ziti-edge', '']);
    assert.equal(await said(port, undefined), 'edge');
  });

  test('fails the handshake where nobody handles what the client offers, or offers nothing', async (t) => {
    const { port } = await openPort(t);
    speak(port, 'link', ['ziti-link']);
    speak(port, 'ctrl', ['ziti-ctrl']);
    assert.equal(await said(port, ['h2']), 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL');
    assert.equal(await said(port, undefined), 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL');
  });

  test('refuses a second handler of a protocol by the names of both', async (t) => {
    const { port } = await openPort(t);
    speak(port, 'listeners[0]', ['ziti-edge', '']);
    assert.throws(
      () => speak(port, 'web[0]', ['h2', 'http/1.1', '']),
      (error) =>
        error instanceof FrontdoorError &&
        error.code === 'protocol-taken' &&
        error.message.startsWith('web[0] and listeners[0] cannot share 127.0.0.1:0'),
    );
    assert.equal(
      await said(port, ['h2']),
      'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL',
      'not even a part of it',
    );
  });

  test('is free for another handler once the first has stopped', async (t) => {
    const { port } = await openPort(t);
    const release = speak(port, 'first', ['ziti-link']);
    release();
    speak(port, 'second', ['ziti-link']);
    assert.equal(await said(port, ['ziti-link']), 'second');
  });

  test('asks for a client certificate and judges none', async (t) => {
    const { port } = await openPort(t);
    const seen: (string | undefined)[] = [];
    port.handle(['ziti-link'], (socket) => {
      seen.push(socket.getPeerX509Certificate()?.subject);
      socket.end('seen');
    });
    const stranger = await (await makeTestAuthority('others')).issue('stranger');
    const { cert, key } = stranger;
    assert.equal(await said(port, ['ziti-link'], { cert, key }), 'seen');
    assert.equal(await said(port, ['ziti-link']), 'seen');
    assert.deepEqual(seen, ['CN=stranger', undefined]);
  });

  test('shows the first certificate that is made out to the name asked for, else the first', async (t) => {
    const [a, b] = await Promise.all([
      authority.issue('first', { dns: ['a.example'] }),
      authority.issue('second', { dns: ['*.b.example', 'b.example'] }),
    ]);
    const { port } = await openPort(t, { default: a, alternates: [b] });
    speak(port, 'link', ['ziti-link']);
    const shown = async (servername: string): Promise<string> => {
      const answer = await ask(port, ['ziti-link'], { servername, checkServerIdentity: () => undefined });
      return typeof answer === 'string' ? answer : answer.commonName;
    };
    assert.equal(await shown('a.example'), 'first');
    assert.equal(await shown('x.b.example'), 'second');
    assert.equal(await shown('b.example'), 'second');
    assert.equal(await shown('c.example'), 'first');
    assert.equal(await shown(''), 'first');
  });

  test('shows each leaf of a file with several for one key', async (t) => {
    const one = await authority.issue('one', { dns: ['one.example'] });
    const foreign = await authority.issue('foreign', { dns: ['two.example'] });
    // The second leaf belongs to another key: nothing could be proven with it.
    const { port } = await openPort(t, {
      default: { ...one, cert: `${one.cert}\n${foreign.cert}` },
      alternates: [],
    });
    speak(port, 'link', ['ziti-link']);
    const servername = 'two.example';
    const answer = await ask(port, ['ziti-link'], { servername, checkServerIdentity: () => undefined });
    assert.equal((answer as Answer).commonName, 'one');
  });

  test('sends the intermediates of its file, so that clients with only the root trust it', async (t) => {
    const middle = await authority.intermediate('middle');
    const leaf = await middle.issue('below');
    const chained: TestIdentity = { ...leaf, cert: `${leaf.cert}\n${middle.ca}`, ca: authority.ca };
    const { port } = await openPort(t, { default: chained, alternates: [] });
    speak(port, 'link', ['ziti-link']);
    assert.equal(await said(port, ['ziti-link']), 'link');
  });

  test('refuses certificates that cannot be used, and continues with those it has', async (t) => {
    const { port, ports } = await openPort(t);
    speak(port, 'link', ['ziti-link']);
    const mixed = { default: { ...server, key: client.key }, alternates: [] };
    assert.throws(() => port.setTls(mixed), { code: 'certificate-key-mismatch' });
    assert.equal(((await ask(port, ['ziti-link'])) as Answer).commonName, 'router');
    const elsewhere = { host: '127.0.0.1', port: 0, tls: mixed, handshakeTimeoutMs: 5_000 };
    await assert.rejects(ports.open(elsewhere), { code: 'certificate-key-mismatch' });
  });

  test('takes new certificates for new handshakes and leaves connections that stand', async (t) => {
    const { port } = await openPort(t);
    const sockets: tls.TLSSocket[] = [];
    port.handle(['ziti-link'], (socket) => void sockets.push(socket));
    const open = async (): Promise<tls.TLSSocket> => {
      const socket = tls.connect({
        host: '127.0.0.1',
        port: port.port,
        ca: authority.ca,
        ALPNProtocols: ['ziti-link'],
      });
      t.after(() => socket.destroy());
      await within('a handshake', once(socket, 'secureConnect'));
      return socket;
    };
    const before = await open();
    const renewed = await authority.issue('renewed');
    port.setTls({ default: renewed, alternates: [] });
    const after = await open();
    assert.deepEqual([commonNameOf(before), commonNameOf(after)], ['router', 'renewed']);
    const echoed = once(before, 'data');
    sockets[0]!.write('still here');
    assert.equal(String((await within('data', echoed))[0]), 'still here');
  });

  test('shows a handler’s own certificate and versions on its protocols alone', async (t) => {
    const { port } = await openPort(t);
    speak(port, 'link', ['ziti-link']);
    const web = await authority.issue('web');
    port.handle(['h2', ''], (socket) => socket.end(socket.getProtocol() ?? ''), {
      tls: { default: web, alternates: [] },
      versions: { min: 'TLSv1.2', max: 'TLSv1.2' },
    });
    const ours = await ask(port, ['h2']);
    assert.deepEqual(ours, { said: 'TLSv1.2', protocol: 'h2', commonName: 'web' });
    assert.equal(((await ask(port, ['ziti-link'])) as Answer).commonName, 'router');
    assert.equal(await said(port, ['h2'], { minVersion: 'TLSv1.3' }), 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
    port.setTls({ default: client, alternates: [] });
    assert.equal(((await ask(port, ['h2'])) as Answer).commonName, 'web');
  });

  test('speaks versions before 1.2 where a handler allows them, and nowhere else', async (t) => {
    const { port } = await openPort(t);
    speak(port, 'link', ['ziti-link']);
    port.handle([''], (socket) => socket.end(socket.getProtocol() ?? ''), {
      versions: { min: 'TLSv1', max: 'TLSv1.3' },
    });
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    assert.equal(await said(port, undefined, old), 'TLSv1.1');
    assert.equal(await said(port, undefined), 'TLSv1.3');
    assert.equal(await said(port, ['ziti-link'], old), 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
  });

  test('closes connections whose handshake is not finished in time, at any point where it stops', async (t) => {
    const { port } = await openPort(t, PLAIN, 200);
    speak(port, 'link', ['ziti-link']);
    const silent = net.connect(port.port, '127.0.0.1');
    const half = net.connect(port.port, '127.0.0.1');
    half.write(Buffer.from([22, 3, 1, 1, 0, 1, 0]));
    const ended = [silent, half].map((socket) => within('the end', closeOf(socket.resume())));
    await Promise.all(ended);
  });

  test('closes connections without TLS', async (t) => {
    const { port } = await openPort(t);
    speak(port, 'link', ['ziti-link']);
    const plain = net.connect(port.port, '127.0.0.1');
    plain.write('GET / HTTP/1.1\r\n\r\n');
    await within('the end', closeOf(plain.resume()));
  });
});

describe('the TLS ports of a router', () => {
  test('are one socket for each bind string', async (t) => {
    const [others, ports] = [new TlsPorts({ log: silentLog }), new TlsPorts({ log: silentLog })];
    t.after(() => Promise.all([others.close(), ports.close()]));
    const options = { host: '127.0.0.1', port: await freePort(), tls: PLAIN, handshakeTimeoutMs: 60_000 };
    const port = await others.open(options);
    await assert.rejects(ports.open(options), { code: 'port-taken' });
    await port.close();
    const [first, second] = await Promise.all([ports.open(options), ports.open(options)]);
    assert.equal(first, second);
    const other = await ports.open({ ...options, port: 0 });
    assert.notEqual(other, first);
  });

  test('take new certificates together', async (t) => {
    const { port, ports } = await openPort(t);
    const other = await ports.open({ host: '127.0.0.1', port: 0, tls: PLAIN, handshakeTimeoutMs: 5_000 });
    for (const each of [port, other]) speak(each, 'link', ['ziti-link']);
    await ports.setTls({ default: await authority.issue('renewed'), alternates: [] });
    for (const each of [port, other]) {
      assert.equal(((await ask(each, ['ziti-link'])) as Answer).commonName, 'renewed');
    }
  });
});
