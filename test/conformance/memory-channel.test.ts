// The channel that `up` makes between gateway and router without a socket is authenticated like a channel over TLS.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, test } from 'node:test';
import { FrontdoorError } from '#base';
import { FrameHeaders, HeaderWriter, headerId } from '#wire';
import { until } from '../support/deadline.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
before(async () => {
  world = await openWorld();
});
after(() => world?.close());

function helloWith(token: string, formerChannel = '', isOpen = false): FrameHeaders {
  const { sessionToken, formerChannel: former, formerChannelIsOpen } = headerId.edge;
  return new HeaderWriter()
    .text(sessionToken, token)
    .text(former, formerChannel)
    .bool(formerChannelIsOpen, isOpen)
    .build();
}

test('a memory channel needs a session and the certificate that the session belongs to, as one over TLS does', async () => {
  const { id, credentials, sessionToken } = await world.enrollEnvironment('one');
  const own = new X509Certificate(credentials.cert);
  const other = await world.enrollEnvironment('two');
  const foreign = new X509Certificate(other.credentials.cert);
  const { router } = world.up;
  const isRefused = (error: unknown): boolean =>
    error instanceof FrontdoorError && error.code === 'channel-refused';
  const accept = (certificate: X509Certificate, helloHeaders: FrameHeaders) =>
    router.acceptMemory({ certificate, helloId: id, helloHeaders });
  await assert.rejects(accept(own, new HeaderWriter().build()), isRefused);
  await assert.rejects(accept(own, helloWith('made-up')), isRefused);
  await assert.rejects(accept(foreign, helloWith(sessionToken)), isRefused);
  const channel = await accept(own, helloWith(sessionToken));
  assert.equal(channel.isClosed, false);
  channel.close('done');
});

test('a channel ends the one that it names as lost, if that belongs to the same identity', async () => {
  const { router } = world.up;
  const open = async (name: string) => {
    const { id, credentials, sessionToken } = await world.enrollEnvironment(name);
    const certificate = new X509Certificate(credentials.cert);
    return (former: string, isOpen = false) => {
      const helloHeaders = helloWith(sessionToken, former, isOpen);
      return router.acceptMemory({ certificate, helloId: id, helloHeaders });
    };
  };
  const [own, other] = [await open('loses'), await open('keeps')];
  const [lost, beside, foreign] = [await own(''), await own(''), await other('')];
  const more = [await own(foreign.id), await own(beside.id, true), await own(lost.id), await own('unknown')];
  const channels = [lost, beside, foreign, ...more];
  const isOpen = (): string => channels.map(({ isClosed }) => (isClosed ? '-' : '+')).join('');
  await until('the lost channel to be closed', isOpen, (text) => text === '-++++++');
  for (const channel of channels) channel.close('done');
});

test('the control channel of the router of up is in memory, and needs the certificate of that router', async () => {
  const { control, router } = world.up;
  const connected = world.records.filter(({ message }) => message === 'router connected');
  assert.deepEqual(
    connected.map(({ fields }) => [fields['router'], fields['peer']]),
    [[router.id, 'memory']],
  );
  const environment = await world.enrollEnvironment('three');
  const other = await world.enrollRouter('other');
  for (const { id, credentials } of [environment, other]) {
    const certificate = new X509Certificate(credentials.cert);
    for (const helloId of new Set([router.id, environment.id, id === other.id ? router.id : id])) {
      const accepted = control.acceptRouter({ certificate, helloId, helloHeaders: FrameHeaders.empty });
      await assert.rejects(accepted, { code: 'channel-refused' }, helloId);
    }
  }
});
