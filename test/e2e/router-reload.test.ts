// Certificates of a running router, over real TLS: files that are replaced count for new handshakes while channels
// stand, further certificates are chosen by the name that a client asks for, one port serves what shares it.
import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import process from 'node:process';
import { text as consumeText } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import * as tls from 'node:tls';
import { LATENCY_TYPE, makeFrame, RESULT_TYPE } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import { freePort } from '../support/free-port.ts';
import type { TestIdentity } from '../support/certificates.ts';
import { until, within } from '../support/deadline.ts';
import { PrometheusText } from '../support/prometheus-text.ts';
import type { LogRecord } from '../support/recording-log.ts';
import { keptLog, RouterStage, type Sections } from '../support/router-stage.ts';
import type { ScriptedController } from '../support/scripted-controller.ts';
import { edgeHelloHeaders, WirePeer } from '../support/wire-peer.ts';

const RELOAD_MS = 10_000;

interface Served {
  readonly stage: RouterStage;
  readonly controller: ScriptedController;
  readonly port: number;
  readonly lines: readonly LogRecord[];
  /** Replaces a file of the identity. */
  write(name: string, pem: string): void;
}

/** Edge, links and controllers at one port, all certificates in files. */
async function serve(t: TestContext, more: Sections = {}): Promise<Served> {
  const stage = await RouterStage.open(t);
  const port = await freePort();
  const address = `tls:127.0.0.1:${port}`;
  const path = (name: string): string => join(stage.folder, name);
  const write = (name: string, pem: string): void => writeFileSync(path(name), pem, { mode: 0o600 });
  const client = await stage.authority.issue('router-1');
  const server = await stage.authority.issue('server 1');
  const alternate = await stage.authority.issue('alternate 1', { dns: ['other.example'] });
  write('cert.pem', client.cert);
  write('key.pem', client.key);
  write('ca.pem', client.ca);
  write('server.pem', server.cert);
  write('server.key', server.key);
  write('alternate.pem', alternate.cert);
  write('alternate.key', alternate.key);
  const { log, lines } = keptLog();
  const controller = await stage.controller();
  const sections = {
    ctrl: { listeners: [{ bind: address }] },
    identity: {
      cert: path('cert.pem'),
      key: path('key.pem'),
      ca: `file://${path('ca.pem')}`,
      server_cert: path('server.pem'),
      server_key: path('server.key'),
      alt_server_certs: [{ server_cert: path('alternate.pem'), server_key: path('alternate.key') }],
    },
    edge: { csr: { sans: { dns: ['localhost'] } } },
    link: { listeners: [{ binding: 'transport', bind: address, advertise: `localhost:${port}` }] },
    dialers: [{ binding: 'transport' }],
    listeners: [{ binding: 'edge', address, options: { advertise: `localhost:${port}` } }],
    ...more,
  };
  await stage.start([controller], sections, { log });
  await controller.connected();
  return { stage, controller, port, lines, write };
}

/** What a newcomer is shown, and the protocol that was agreed on. */
async function shown(
  port: number,
  protocols: readonly string[],
  servername = 'localhost',
): Promise<{ readonly leaf: X509Certificate; readonly protocol: string | false | null }> {
  const socket = tls.connect({
    host: '127.0.0.1',
    port,
    servername,
    rejectUnauthorized: false,
    ...(protocols.length === 0 ? {} : { ALPNProtocols: [...protocols] }),
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once('secureConnect', () => resolve()).once('error', reject);
  await within('the handshake', promise);
  const leaf = socket.getPeerX509Certificate()!;
  socket.destroy();
  return { leaf, protocol: socket.alpnProtocol };
}

async function shownName(port: number, protocol: string, servername?: string): Promise<string> {
  return (await shown(port, [protocol], servername)).leaf.subject.replace('CN=', '');
}

function fingerprint({ cert }: TestIdentity): string {
  return createHash('sha1').update(new X509Certificate(cert).raw).digest('hex');
}

/** A peer with a session that the controller vouches for, its hello taken. */
async function openEdgePeer({ stage, controller, port }: Served): Promise<WirePeer> {
  const credentials = await stage.authority.issue('sdk');
  const session = {
    token: 'token-1',
    certFingerprints: [fingerprint(credentials)],
    id: 's1',
    identityId: 'i1',
  };
  controller.send(ctrlMessages.apiSessionAdded.frame({ isFullState: false, apiSessions: [session] }));
  const peer = await WirePeer.open({ port, alpn: 'ziti-edge', credentials });
  const answer = await peer.hello('sdk', edgeHelloHeaders('token-1'));
  assert.equal(answer?.contentType, RESULT_TYPE);
  return peer;
}

test('files that are replaced show in new handshakes, and channels that stand continue', async (t) => {
  const served = await serve(t);
  const { stage, controller, port, write } = served;
  const peer = await openEdgePeer(served);
  t.after(() => peer.close());
  const protocols = ['ziti-edge', 'ziti-link', 'ziti-ctrl'];
  for (const protocol of protocols) assert.equal(await shownName(port, protocol), 'server 1');

  const [server, client] = [await stage.authority.issue('server 2'), await stage.authority.issue('router-1')];
  write('server.pem', server.cert);
  write('server.key', server.key);
  write('cert.pem', client.cert);
  write('key.pem', client.key);
  await until(
    'the new certificate',
    () => shownName(port, 'ziti-edge'),
    (name) => name === 'server 2',
    RELOAD_MS,
  );
  for (const protocol of protocols) assert.equal(await shownName(port, protocol), 'server 2');
  assert.equal((await peer.ask(makeFrame(LATENCY_TYPE))).contentType, RESULT_TYPE);
  const [channel] = controller.open;
  assert.equal(controller.channels.length, 1);
  assert.notEqual(channel!.peer.fingerprint, fingerprint(client));
  // A channel that is dialed from now on shows the new client certificate.
  channel!.close('to be dialed again');
  const again = await controller.connected(2);
  assert.equal(again.peer.fingerprint, fingerprint(client));
});

test('files that are invalid, or belong to another router, change nothing and are logged once', async (t) => {
  const { stage, controller, port, lines, write } = await serve(t);
  const errors = (): string[] => lines.filter(({ level }) => level === 'error').map(({ message }) => message);
  const untilWarned = (count: number): Promise<unknown> =>
    until('an error in the log', errors, (all) => all.length === count, RELOAD_MS);
  write('server.pem', 'no certificate');
  await untilWarned(1);
  assert.equal(await shownName(port, 'ziti-edge'), 'server 1');

  const [server, stranger] = [
    await stage.authority.issue('server 3'),
    await stage.authority.issue('router-9'),
  ];
  write('server.pem', server.cert);
  write('server.key', server.key);
  write('cert.pem', stranger.cert);
  write('key.pem', stranger.key);
  await untilWarned(2);
  assert.match(errors()[1]!, /another router/);
  assert.equal(await shownName(port, 'ziti-edge'), 'server 1');
  assert.equal(controller.channels.length, 1);
});

test('alt_server_certs are shown to clients that ask for their name at any listener, and are reloaded too', async (t) => {
  const { stage, port, write } = await serve(t);
  for (const protocol of ['ziti-edge', 'ziti-link', 'ziti-ctrl']) {
    assert.equal(await shownName(port, protocol, 'other.example'), 'alternate 1');
    assert.equal(await shownName(port, protocol, 'localhost'), 'server 1');
    assert.equal(await shownName(port, protocol, 'nobody.example'), 'server 1');
  }
  const alternate = await stage.authority.issue('alternate 2', { dns: ['other.example'] });
  write('alternate.pem', alternate.cert);
  write('alternate.key', alternate.key);
  await until(
    'the new alternate',
    () => shownName(port, 'ziti-edge', 'other.example'),
    (name) => name === 'alternate 2',
    RELOAD_MS,
  );
  assert.equal(await shownName(port, 'ziti-link'), 'server 1');
});

test('without server_cert the listeners show cert', async (t) => {
  const stage = await RouterStage.open(t);
  const controller = await stage.controller();
  const router = await stage.start([controller], {
    edge: { csr: { sans: { dns: ['localhost'] } } },
    listeners: [{ binding: 'edge', address: 'tls:127.0.0.1:0', advertise: 'localhost:1' }],
  });
  assert.equal(await shownName(router.edgePort, 'ziti-edge'), 'router-1');
});

test('edge, links and controllers share one port; clients that name no protocol are SDKs', async (t) => {
  const { port, controller } = await serve(t);
  for (const protocol of ['ziti-edge', 'ziti-link', 'ziti-ctrl'])
    assert.equal((await shown(port, [protocol])).protocol, protocol);
  // The last one that is served counts, as with OpenZiti.
  assert.equal((await shown(port, ['ziti-edge', 'ziti-link', 'h2'])).protocol, 'ziti-link');
  assert.equal((await shown(port, [])).protocol, false);
  await assert.rejects(shown(port, ['h2']), { code: 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL' });
  assert.equal(controller.open.length, 1);
});

test('web shares its port with links and controllers', async (t) => {
  const web = await freePort();
  const served = await serve(t, {
    ctrl: { listeners: [{ bind: `tls:127.0.0.1:${web}` }] },
    link: {
      listeners: [{ binding: 'transport', bind: `tls:127.0.0.1:${web}`, advertise: `localhost:${web}` }],
    },
    web: [
      {
        name: 'health',
        bindPoints: [{ interface: `127.0.0.1:${web}`, address: `localhost:${web}` }],
        apis: [{ binding: 'health-checks' }],
      },
    ],
  });
  for (const protocol of ['h2', 'http/1.1', 'ziti-link', 'ziti-ctrl'])
    assert.equal((await shown(web, [protocol])).protocol, protocol);
  await assert.rejects(shown(web, ['ziti-edge']), { code: 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL' });
  assert.equal((await shown(served.port, ['ziti-edge'])).protocol, 'ziti-edge');
  const text = new PrometheusText(await metricsAt(web));
  assert.equal(text.value('frontdoor_build_info', { version: '1.2.3', node: process.version }), 1);
  assert.ok(text.value('process_resident_memory_bytes')! > 0);
  const { leaf } = await shown(web, ['h2']);
  const ends = { identity: undefined, server: leaf.validToDate.getTime() / 1_000 };
  for (const [certificate, wanted] of Object.entries(ends)) {
    const seconds = text.value('frontdoor_router_certificate_expiry_timestamp_seconds', { certificate })!;
    assert.ok(seconds > Date.now() / 1_000, certificate);
    if (wanted !== undefined) assert.ok(seconds <= wanted, certificate);
  }
});

function metricsAt(port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  get(`https://127.0.0.1:${port}/metrics`, { rejectUnauthorized: false, agent: false }, (response) => {
    consumeText(response).then(resolve, reject);
  }).once('error', reject);
  return within('the metrics', promise);
}

test('without a link section no link is taken at the port of the edge', async (t) => {
  const { port } = await serve(t, { link: undefined });
  await assert.rejects(shown(port, ['ziti-link']), { code: 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL' });
  assert.equal((await shown(port, ['ziti-edge'])).protocol, 'ziti-edge');
});
