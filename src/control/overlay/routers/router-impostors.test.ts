// Every way to come in as a router without being it: refused before anything is said, with one line in the log.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, test } from 'node:test';
import { connect } from 'node:tls';
import { ManualClock, silentLog } from '#base';
import { fingerprintOf, type TlsIdentity } from '#net/channel';
import { encodeFrame, makeHello } from '#wire';
import { encodeRouterHello } from '#wire/ctrl';
import { makeTestAuthority } from '../../../../test/support/certificates.ts';
import { within } from '../../../../test/support/deadline.ts';
import { closeOf } from '../../../../test/support/socket-end.ts';
import { openPki } from '../../pki/mod.ts';
import { OverlayWorld, VERSION_TEXT } from '../testing/overlay-world.ts';
import type { ScriptedRouter } from '../testing/scripted-router.ts';

const DAY_MS = 86_400_000;

let world: OverlayWorld;
let honest: ScriptedRouter;
before(async () => {
  world = await OverlayWorld.open();
  await world.start();
  honest = await world.router('honest');
});
after(() => world.close());

/** Enrolled like any router. */
async function enrolled(id: string, identity?: TlsIdentity): Promise<TlsIdentity> {
  const own = identity ?? (await world.certificate(id));
  await world.addIdentity(id, 'router', [fingerprintOf(new X509Certificate(own.cert))]);
  return own;
}

/** A certificate of our authority whose time begins `days` from now. */
async function issuedIn(days: number, id: string): Promise<TlsIdentity> {
  const clock = new ManualClock(world.clock.nowMs() + days * DAY_MS);
  const { folder: dataDir, store } = world;
  const options = { dataDir, db: store.db, secrets: world.secrets, trustDomain: 'test.frontdoor', hosts: [] };
  const pki = await openPki({ ...options, controllerId: 'ctrl1', clock, log: silentLog });
  try {
    return await world.certificate(id, pki);
  } finally {
    pki.close();
  }
}

interface Impostor {
  readonly identity: TlsIdentity;
  readonly helloId: string;
  /** Matches the reason in the log. A peer with a certificate of our authority is sent the same reason, others none. */
  readonly reason: RegExp;
  readonly isProven?: boolean;
}

const IMPOSTORS: Readonly<Record<string, () => Promise<Impostor>>> = {
  'with a certificate of another authority under the router’s name': async () => {
    const stranger = await (await makeTestAuthority()).issue('honest');
    return {
      identity: { ...stranger, ca: world.pki.caBundlePem },
      helloId: 'honest',
      reason: /not of this control plane/,
      isProven: false,
    };
  },
  'with a certificate of another authority and the router’s behind it': async () => {
    const stranger = await (await makeTestAuthority()).issue('honest');
    const filler = (await world.certificate('honest')).cert + world.pki.caBundlePem;
    const identity = { ...stranger, cert: `${stranger.cert}\n${filler}`, ca: world.pki.caBundlePem };
    return { identity, helloId: 'honest', reason: /not of this control plane/, isProven: false };
  },
  'with a certificate that has expired': async () => ({
    identity: await enrolled('old', await issuedIn(-31, 'old')),
    helloId: 'old',
    reason: /expired/,
  }),
  'with a certificate that is not valid yet': async () => ({
    identity: await enrolled('early', await issuedIn(2, 'early')),
    helloId: 'early',
    reason: /not valid yet|not yet valid/,
  }),
  'with another router’s certificate': async () => ({
    identity: await enrolled('other'),
    helloId: 'honest',
    reason: /another router/,
  }),
  'with another router’s certificate and the router’s own behind it': async () => {
    const other = await enrolled('filled');
    const filler = await world.certificate('honest');
    return {
      identity: { ...other, cert: `${other.cert}\n${filler.cert}` },
      helloId: 'honest',
      reason: /another router/,
    };
  },
  'with a certificate in the router’s name that it never enrolled': async () => ({
    identity: await world.certificate('honest'),
    helloId: 'honest',
    reason: /no longer known/,
  }),
  'with a certificate of an agent': async () => ({
    identity: await world.clientCertificate('honest'),
    helloId: 'honest',
    reason: /no router/,
  }),
  'with the certificate of a router that was deleted': async () => {
    const identity = await enrolled('deleted');
    world.model.removeIdentity('deleted');
    return { identity, helloId: 'deleted', reason: /was deleted/ };
  },
  'with a copy of the router’s key, from another address': async () => ({
    identity: await world.identityOf('honest'),
    helloId: 'honest',
    reason: /copy of its key/,
  }),
};

for (const [what, make] of Object.entries(IMPOSTORS)) {
  test(`nobody comes in ${what}`, async () => {
    const { identity, helloId, reason, isProven = true } = await make();
    world.logLines.length = 0;
    await assert.rejects(world.dial(helloId, identity), {
      code: 'channel-refused',
      message: isProven ? reason : /^refused$/,
    });
    const lines = world.logLines.filter((line) => line.startsWith('warn'));
    assert.equal(lines.length, 1, lines.join('\n'));
    assert.match(lines[0]!, reason);
    await honest.settle();
    assert.equal(honest.closeReason, undefined);
  });
}

test('nobody comes in without a certificate', async () => {
  world.logLines.length = 0;
  const socket = connect({
    host: 'localhost',
    port: world.controller.port,
    ca: world.pki.caBundlePem,
    ALPNProtocols: ['ziti-ctrl'],
  });
  socket.on('error', () => {});
  socket.write(encodeFrame(makeHello('honest', encodeRouterHello(VERSION_TEXT, []))));
  socket.resume();
  await within('the end of the connection', closeOf(socket));
  assert.equal(world.logLines.filter((line) => line.includes('without a certificate')).length, 1);
  await honest.settle();
});

test('a router whose channel no longer answers gets its place back at once, and a live one keeps it', async () => {
  const lost = await world.router('lost');
  world.logLines.length = 0;
  // Its socket is no longer read, as behind a link that lost everything: nothing answers, and no end arrives.
  lost.channel.pauseReading();
  const back = await world.router('lost');
  assert.ok(
    world.logLines.some((line) => line.includes('no longer answers')),
    world.logLines.join('\n'),
  );
  assert.equal(back.closeReason, undefined);
  await assert.rejects(world.dial('lost', await world.identityOf('lost')), /copy of its key/);
  assert.equal(back.closeReason, undefined);
});
