// The channel that `up` makes between gateway and router without a socket is authenticated like a channel over TLS.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, test } from 'node:test';
import { FrontdoorError } from '#base';
import { fingerprintOf } from '#net';
import { HeaderWriter, headerId, type FrameHeaders } from '#wire';
import { openWorld, type World } from '../support/world.ts';

let world: World;
before(async () => {
  world = await openWorld();
});
after(() => world?.close());

function helloWith(token: string): FrameHeaders {
  return new HeaderWriter().text(headerId.edge.sessionToken, token).build();
}

test('a memory channel needs a session and the certificate that the session belongs to, as one over TLS does', async () => {
  const { id, credentials, sessionToken } = await world.enrollEnvironment('one');
  const own = fingerprintOf(new X509Certificate(credentials.cert));
  const other = await world.enrollEnvironment('two');
  const foreign = fingerprintOf(new X509Certificate(other.credentials.cert));
  const { router } = world.up;
  const isRefused = (error: unknown): boolean =>
    error instanceof FrontdoorError && error.code === 'channel-refused';
  await assert.rejects(router.acceptMemory(own, id, new HeaderWriter().build()), isRefused);
  await assert.rejects(router.acceptMemory(own, id, helloWith('made-up')), isRefused);
  await assert.rejects(router.acceptMemory(foreign, id, helloWith(sessionToken)), isRefused);
  const channel = await router.acceptMemory(own, id, helloWith(sessionToken));
  assert.equal(channel.isClosed, false);
  channel.close('done');
});
