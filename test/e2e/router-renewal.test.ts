// Router and control plane over real TLS: certificates that are due are renewed while everything continues.
import assert from 'node:assert/strict';
import { createPublicKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect } from 'node:tls';
import { silentLog, systemClock, type Log } from '#base';
import { startControlPlane, type ControlPlane } from '#control';
import { dialChannel, type Channel } from '#net/channel';
import { enrollRouterIdentity, loadRouterConfig, Router, type RouterConfig } from '#router';
import { renewalAtMs } from '#sdk';
import { versionHeader } from '#wire';
import { encodeRouterHello } from '#wire/ctrl';
import { writeRouterFile } from '../../bin/router-part.ts';
import { within } from '../support/deadline.ts';
import { eventually } from '../support/world.ts';

const DUE_MS = 21 * 86_400_000;
const ANSWER_MS = 30_000;

let folder: string;
let control: ControlPlane;
let config: RouterConfig;
let routerId: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'frontdoor-router-renewal-'));
  control = await startControlPlane({
    dataDir: join(folder, 'control'),
    listenHost: '127.0.0.1',
    advertiseHost: 'localhost',
    apiPort: 0,
    edgeApiPort: 0,
    ctrlPort: 0,
    zone: 'share.localhost',
    frontendUrls: () => [],
    log: silentLog,
  });
  const { id, token } = await control.createFabricNode('router', 'r1');
  routerId = id;
  const file = await writeRouterFile({
    dataDir: folder,
    listenHost: '127.0.0.1',
    advertiseHost: 'localhost',
    edgePort: 0,
    ctrlAddress: control.ctrlAddress,
  });
  config = loadRouterConfig(file);
  await enrollRouterIdentity({ config, jwt: token, force: false, log: silentLog });
});
after(async () => {
  await control?.close();
  rmSync(folder, { recursive: true });
});

function files(): { cert: string; server: string; key: string } {
  const { cert, serverCert, key } = config.identity;
  return {
    cert: readFileSync(cert, 'utf8'),
    server: readFileSync(serverCert!, 'utf8'),
    key: readFileSync(key.reveal(), 'utf8'),
  };
}

function startRouter(nowMs: () => number, log: Log = silentLog): Promise<Router> {
  return Router.start({ config, log, clock: { ...systemClock, nowMs } });
}

const whenDue = (): number => systemClock.nowMs() + DUE_MS;

/** The leaf that the router's edge listener shows to a newcomer. */
async function shownBy(router: Router): Promise<X509Certificate> {
  const socket = connect({
    host: '127.0.0.1',
    port: router.edgePort,
    servername: 'localhost',
    ca: readFileSync(config.identity.ca),
    ALPNProtocols: ['ziti-edge'],
  });
  await within('the handshake', once(socket, 'secureConnect'));
  const leaf = socket.getPeerX509Certificate()!;
  socket.destroy();
  return leaf;
}

/** A control channel with the router's key and this certificate. */
function dialWith(cert: string): Promise<Channel> {
  return dialChannel({
    host: 'localhost',
    port: Number(control.ctrlAddress.split(':').at(-1)),
    tls: { cert, key: files().key, ca: readFileSync(config.identity.ca, 'utf8') },
    alpn: 'ziti-ctrl',
    helloId: routerId,
    helloHeaders: encodeRouterHello(versionHeader(process.platform, process.arch), []),
    timeoutMs: ANSWER_MS,
    log: silentLog,
  });
}

test('certificates that are due are renewed by themselves, and only the new ones count from then on', async () => {
  const old = files();
  const renewed = Promise.withResolvers<void>();
  const log: Log = {
    ...silentLog,
    info: (_fields, message) => {
      if (message === 'certificates renewed') renewed.resolve();
    },
  };
  // A moment before it is due, for as long as it takes to look.
  const earlyMs = Math.min(renewalAtMs(old.cert), renewalAtMs(old.server)) - 1;
  let isDue = false;
  const router = await startRouter(() => (isDue ? earlyMs + 1 : earlyMs), log);
  try {
    const before = await shownBy(router);
    assert.equal(before.fingerprint, new X509Certificate(old.server).fingerprint);
    isDue = true;
    await within('certificates are renewed', renewed.promise);
    const young = files();
    assert.equal(young.key, old.key);
    assert.notEqual(young.cert, old.cert);
    const shown = await shownBy(router);
    assert.equal(shown.fingerprint, new X509Certificate(young.server).fingerprint);
    assert.notEqual(shown.fingerprint, before.fingerprint);
    assert.ok(shown.checkHost('localhost'));
    assert.ok(shown.publicKey.equals(createPublicKey(young.key)));
    // The channel that stands continued all the while.
    assert.equal(router.isConnected, true);
  } finally {
    await router.close();
  }
  await assert.rejects(dialWith(old.cert), /refused/);
  const again = await startRouter(() => systemClock.nowMs());
  try {
    await eventually(
      async () => again.isConnected,
      (isConnected) => isConnected,
    );
    assert.equal(await again.renewCertificates(), false);
  } finally {
    await again.close();
  }
});

test('a renewal that is due while the control plane is away is done when it is back', async () => {
  const old = files();
  // The router has no connected controller yet: its first dial fails.
  const away = {
    ...config,
    ctrl: { ...config.ctrl, endpoints: [{ type: 'tls' as const, host: '127.0.0.1', port: 1 }] },
  };
  const lonely = await Router.start({
    config: away,
    log: silentLog,
    clock: { ...systemClock, nowMs: whenDue },
  });
  try {
    await assert.rejects(lonely.renewCertificates(), { code: 'no-controller' });
  } finally {
    await lonely.close();
  }
  assert.deepEqual(files(), old);
  const router = await startRouter(whenDue);
  try {
    await eventually(
      async () => files().cert,
      (cert) => cert !== old.cert,
    );
  } finally {
    await router.close();
  }
  (await dialWith(files().cert)).close('test over');
});
