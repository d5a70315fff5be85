// What strangers and enrolled routers can do to the control channel: end their own connection, nothing else.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { silentLog } from '#base';
import { OverlayClient } from '#sdk';
import {
  contentType,
  headerId,
  HeaderWriter,
  LATENCY_TYPE,
  makeFrame,
  RESULT_TYPE,
  textOfBody,
  versionHeader,
  type Frame,
} from '#wire';
import { encodeRouteResult } from '#wire/circuits';
import { ctrlMessages, FaultSubject } from '#wire/ctrl';
import { startCanary, type Canary } from '../support/canary.ts';
import { makeTestAuthority } from '../support/certificates.ts';
import { until } from '../support/deadline.ts';
import { startHttpService, type FaultyService } from '../support/faulty-service.ts';
import { usedMemory } from '../support/heap.ts';
import { BROKEN_FRAMES } from '../support/hostile-bytes.ts';
import { WirePeer, type WireCredentials } from '../support/wire-peer.ts';
import type { LogRecord } from '../support/recording-log.ts';
import { openWorld, type World, type WorldIdentity } from '../support/world.ts';

const DIAL_MS = 30_000;

let world: World;
let service: FaultyService;
let hostile: WorldIdentity;
let environment: WorldIdentity;
let overlay: OverlayClient;
let canary: Canary;

before(async () => {
  service = await startHttpService((_request, response) => response.end('steady'));
  world = await openWorld();
  hostile = await world.enrollRouter('hostile');
  environment = await world.enrollEnvironment('environment');
  const agent = await world.startAgent('site');
  await agent.share(service.target, { name: 'canary' });
  await agent.share(service.target, { name: 'secret', mode: 'private', grants: [environment.id] });
  overlay = new OverlayClient({ api: environment.api, log: silentLog, name: 'dialer' });
  canary = startCanary(world.up.httpPort, 'canary.share.localhost', '/', 'steady'.length);
});

after(async () => {
  try {
    await canary?.stop(30);
  } finally {
    overlay?.close();
    await world?.close();
    await service.stop();
  }
});

function openPeer(credentials?: WireCredentials): Promise<WirePeer> {
  const port = Number(world.up.control.ctrlAddress.split(':').at(-1));
  return WirePeer.open({ port, alpn: 'ziti-ctrl', credentials });
}

function helloHeaders(): ReturnType<HeaderWriter['build']> {
  return new HeaderWriter().text(headerId.channel.helloVersion, versionHeader('linux', 'x64')).build();
}

/** A control channel of the hostile router; the one before may still be on its way out. */
async function openChannel(): Promise<WirePeer> {
  const { value } = await until(
    'a control channel',
    async () => {
      const peer = await openPeer(hostile.credentials);
      const answer = await peer.hello(hostile.id, helloHeaders());
      if (answer?.headers.bool(headerId.channel.resultSuccess) === true) return peer;
      peer.close();
      return undefined;
    },
    (peer) => peer !== undefined,
  );
  return value!;
}

async function assertRefused(peer: WirePeer, id: string, reason: RegExp): Promise<void> {
  const answer = await peer.hello(id, helloHeaders());
  assert.equal(answer?.headers.bool(headerId.channel.resultSuccess), false);
  assert.match(textOfBody(answer), reason);
  await peer.closed();
}

async function assertAlive(peer: WirePeer): Promise<void> {
  assert.equal((await peer.ask(makeFrame(LATENCY_TYPE))).contentType, RESULT_TYPE);
}

async function oneRecord(records: () => LogRecord[], message: string): Promise<LogRecord> {
  const found = (): LogRecord[] => records().filter((record) => record.message === message);
  await until(`the log record "${message}"`, found, (value) => value.length > 0);
  assert.equal(found().length, 1, JSON.stringify(found()));
  return found()[0]!;
}

describe('a stranger at the control channel', () => {
  for (const [name, bytes] of BROKEN_FRAMES) {
    it(`is cut off for a hello that is ${name}`, async () => {
      const records = world.recordsFromNow();
      const peer = await openPeer(hostile.credentials);
      peer.sendBytes(bytes);
      await peer.closed();
      await oneRecord(records, 'malformed hello, connection closed');
      peer.close();
    });
  }

  it('is cut off when its hello never ends', async () => {
    const records = world.recordsFromNow();
    const peer = await openPeer(hostile.credentials);
    peer.sendBytes(Uint8Array.of(3, 6, 9, 0x0c, 0, 0));
    await peer.closed();
    await oneRecord(records, 'no hello in time, connection closed');
  });

  it('is turned away without a certificate', async () => {
    const records = world.recordsFromNow();
    const peer = await openPeer();
    await peer.closed();
    await oneRecord(records, 'refused a peer without a certificate');
  });

  /** The last column is the answer: a peer without a certificate of Frontdoor gets no reason. */
  const IMPOSTORS: readonly (readonly [string, () => Promise<readonly [WireCredentials, string]>, RegExp])[] =
    [
      [
        'a certificate of another authority',
        async () => [await (await makeTestAuthority()).issue(hostile.id), hostile.id],
        /^refused$/,
      ],
      [
        "an environment's certificate",
        () => Promise.resolve([environment.credentials, environment.id]),
        /^refused: certificate of no router$/,
      ],
      [
        "an environment's certificate and a router's id",
        () => Promise.resolve([environment.credentials, hostile.id]),
        /^refused: certificate of no router$/,
      ],
      [
        "a router's certificate and another router's id",
        () => Promise.resolve([hostile.credentials, world.up.router.id]),
        /^refused: certificate of another router$/,
      ],
    ];
  for (const [name, make, reason] of IMPOSTORS) {
    it(`is turned away with ${name}`, async () => {
      const records = world.recordsFromNow();
      const [{ cert, key }, id] = await make();
      const peer = await openPeer({ cert, key });
      await assertRefused(peer, id, reason);
      await oneRecord(records, 'channel refused');
    });
  }
});

describe('an enrolled router on the control channel', () => {
  for (const [name, bytes] of BROKEN_FRAMES) {
    it(`loses its channel for a frame that is ${name}`, async () => {
      const peer = await openChannel();
      const records = world.recordsFromNow();
      peer.sendBytes(bytes);
      await peer.closed();
      await oneRecord(records, 'malformed frame, channel closed');
      await oneRecord(records, 'router disconnected');
      peer.close();
    });
  }

  it('is refused a second channel beside its first', async () => {
    const peer = await openChannel();
    const records = world.recordsFromNow();
    const second = await openPeer(hostile.credentials);
    // The first one shows in the meantime that it is alive: one that is silent loses its place.
    let isAnswered = false;
    const refusal = assertRefused(second, hostile.id, /^refused: this router is connected already: .*$/);
    const answered = refusal.finally(() => (isAnswered = true));
    while (!isAnswered) await assertAlive(peer);
    await answered;
    await oneRecord(records, 'channel refused');
    await assertAlive(peer);
    peer.close();
  });

  it("cannot take away another router's terminators or circuits, nor answer for them", async () => {
    const statuses = async (): Promise<string[]> => {
      const shares = (await world.call('GET', '/shares')).json as { content: { status: string }[] };
      return shares.content.map(({ status }) => status);
    };
    // A look at each of them comes after it can be dialed.
    await until('both shares to have been reached', statuses, (seen) =>
      seen.every((status) => status === 'DEPLOYED'),
    );
    const terminatorIds = world.records
      .filter(({ message }) => message === 'terminator created')
      .map(({ fields }) => String(fields['terminator']));
    // More where the host bound again.
    assert.ok(terminatorIds.length >= 2, terminatorIds.join(' '));
    const serviceId = (await environment.api.serviceByName('secret'))!.id;
    const circuit = await overlay.dial(serviceId, DIAL_MS);
    const closed = Promise.withResolvers<string>();
    circuit.onClose = () => closed.resolve('closed');
    const peer = await openChannel();
    const subjects = [FaultSubject.INGRESS_FAULT, FaultSubject.EGRESS_FAULT, FaultSubject.FORWARD_FAULT];
    const frames: Frame[] = [
      ctrlMessages.removeTerminators.frame({ terminatorIds }),
      ...terminatorIds.flatMap((terminatorId) => [
        ctrlMessages.removeTerminator.frame({ terminatorId }),
        ctrlMessages.removeEdgeTerminator.frame({ terminatorId, apiSessionToken: environment.sessionToken }),
        ctrlMessages.updateTerminator.frame({ terminatorId, updateCost: true, cost: 65_535 }),
        ctrlMessages.healthEvent.frame({ terminatorId, checkPassed: false }),
      ]),
      ...subjects.map((subject) => ctrlMessages.fault.frame({ subject, id: circuit.id })),
      ctrlMessages.circuitConfirmation.frame({ circuitIds: [circuit.id, 'x'.repeat(10_000)] }),
      makeFrame(contentType.routeResult, {
        headers: new HeaderWriter().text(1, circuit.id),
        body: circuit.id,
      }),
      ...[0, 1].map((attempt) =>
        encodeRouteResult(makeFrame(contentType.route, { sequence: 1 }), {
          circuitId: circuit.id,
          attempt,
          isSuccess: false,
          error: 'no',
          errorCode: 0,
          peerData: new Map(),
        }),
      ),
    ];
    for (const frame of frames) peer.send(frame);
    await assertAlive(peer);
    peer.close();
    const text = Promise.withResolvers<string>();
    circuit.onData = (bytes) => text.resolve(Buffer.from(bytes).toString('latin1'));
    circuit.resume();
    circuit.write(Buffer.from('GET / HTTP/1.1\r\nHost: secret\r\n\r\n'));
    assert.match(await Promise.race([text.promise, closed.promise]), /^HTTP\/1\.1 200 OK\r\n/);
    circuit.destroy();
    assert.deepEqual(await statuses(), ['DEPLOYED', 'DEPLOYED']);
  });

  it('cannot fill memory with circuits, links and identities that it makes up', async () => {
    const peer = await openChannel();
    let made = 0;
    async function flood(messages: number): Promise<void> {
      for (let i = 0; i < messages; i += 1) {
        const ids = Array.from({ length: 200 }, () => `made-up-${(made += 1)}`);
        peer.send(ctrlMessages.circuitConfirmation.frame({ circuitIds: ids }));
        const links = ids.map((id) => ({ id, destRouterId: id, linkProtocol: 'tls', dialAddress: id }));
        peer.send(ctrlMessages.routerLinks.frame({ links }));
        const events = ids.map((identityId) => ({ identityId, isConnected: true, connectTimes: [] }));
        peer.send(ctrlMessages.connectEvents.frame({ events, fullState: false }));
        peer.send(ctrlMessages.apiSessionHeartbeat.frame({ tokens: ids }));
        if (i % 20 === 0) await assertAlive(peer);
      }
      await assertAlive(peer);
      peer.frames.length = 0;
    }
    // The links of a router are kept up to a limit, which this reaches. Further ones must leave nothing.
    await flood(100);
    const memory = await usedMemory();
    await flood(400);
    const grown = (await usedMemory()) - memory;
    assert.ok(grown < 8 << 20, `memory grew by ${(grown / (1 << 20)).toFixed(1)} MiB`);
    peer.close();
  });
});
