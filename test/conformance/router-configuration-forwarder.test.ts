// `forwarder` of the configuration file, seen in a router that was started from it: dials of services and of links,
// idle circuits, faults, circuits that end.
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { Router } from '#router';
import { contentType, type Frame } from '#wire';
import { decodeRouteResult, type RouteResult } from '#wire/circuits';
import { PAYLOAD_FLAGS, PAYLOAD_TYPE } from '#wire/xgress';
import { ctrlMessages, DestType, FaultSubject } from '#wire/ctrl';
import { until, within } from '../support/deadline.ts';
import { startEcho } from '../support/echo-service.ts';
import type { LinkPeer } from '../support/link-peer.ts';
import type { LogRecord } from '../support/recording-log.ts';
import { keptLog, RouterStage, type Sections } from '../support/router-stage.ts';
import type { ScriptedController } from '../support/scripted-controller.ts';

interface Scene {
  readonly stage: RouterStage;
  readonly controller: ScriptedController;
  readonly router: Router;
  readonly lines: readonly LogRecord[];
  /** `tcp:127.0.0.1:port` of an echo service. */
  readonly service: string;
}

async function open(t: TestContext, forwarder: Sections, more: Sections = {}): Promise<Scene> {
  const echo = await startEcho();
  t.after(() => echo.close());
  const stage = await RouterStage.open(t);
  const controller = await stage.controller();
  const { log, lines } = keptLog();
  const sections = { forwarder, dialers: [{ binding: 'transport' }], ...more };
  const router = await stage.start([controller], sections, { log });
  await controller.connected();
  const service = `tcp:127.0.0.1:${(echo.address() as AddressInfo).port}`;
  return { stage, controller, router, lines, service };
}

/** Asks for a circuit that ends at the service; the answer comes when it comes. */
function route({ controller, service }: Scene, circuitId: string, linkId?: string): void {
  const address = `${circuitId}-out`;
  const egress = { binding: 'transport', address, destination: service, peerData: [] };
  const forwards =
    linkId === undefined
      ? []
      : [
          { srcAddress: linkId, dstAddress: address, dstType: DestType.END },
          { srcAddress: address, dstAddress: linkId, dstType: DestType.LINK },
        ];
  controller.send(ctrlMessages.route.frame({ circuitId, egress, forwards, timeout: 30_000_000_000n }));
}

async function nextResult({ controller }: Scene): Promise<RouteResult> {
  return decodeRouteResult(await controller.frame(contentType.routeResult));
}

/** A link to a peer that the test plays. */
async function link({ stage, controller }: Scene): Promise<LinkPeer> {
  const peer = await stage.linkPeer('router-2');
  controller.send(ctrlMessages.peerStateChanges.frame(peer.news));
  await peer.linked();
  await until(
    'the report of the link',
    () => controller.frames.filter(({ contentType: type }) => type === contentType.routerLinks),
    (reports) => reports.some(namesLink),
  );
  return peer;
}

function namesLink(frame: Frame): boolean {
  return ctrlMessages.routerLinks.decode(frame.body).links.length > 0;
}

const LINK = { link: { dialers: [{ binding: 'transport' }] } };

test('xgressDialDwellTime passes before a service is dialed', async (t) => {
  const scene = await open(t, { xgressDialDwellTime: 400 });
  const startedMs = performance.now();
  route(scene, 'c1');
  assert.equal((await nextResult(scene)).isSuccess, true);
  const tookMs = performance.now() - startedMs;
  assert.ok(tookMs >= 395, `${tookMs} ms`);
});

test('xgressDialWorkerCount services are dialed at once, xgressDialQueueLength wait, one more is dropped', async (t) => {
  const dwellMs = 300;
  const scene = await open(t, {
    xgressDialWorkerCount: 1,
    xgressDialQueueLength: 1,
    xgressDialDwellTime: dwellMs,
  });
  const startedMs = performance.now();
  for (const circuit of ['c1', 'c2', 'c3']) route(scene, circuit);
  const first = await nextResult(scene);
  const second = await nextResult(scene);
  const tookMs = performance.now() - startedMs;
  assert.deepEqual(
    [first, second].map(({ circuitId, isSuccess }) => [circuitId, isSuccess]),
    [
      ['c1', true],
      ['c2', true],
    ],
  );
  // One after the other, though each waits for itself alone.
  assert.ok(tookMs >= 2 * dwellMs - 10, `${tookMs} ms`);
  const dropped = scene.lines.filter(({ level }) => level === 'error');
  assert.deepEqual(
    dropped.map(({ fields }) => fields['circuit']),
    ['c3'],
  );
  const longMs = 1_500;
  const dials = 12;
  const wide = await open(t, { xgressDialWorkerCount: dials, xgressDialDwellTime: longMs });
  for (let count = 0; count < dials; count += 1) route(wide, `c${count}`);
  const all = async (): Promise<void> => {
    for (let count = 0; count < dials; count += 1) assert.equal((await nextResult(wide)).isSuccess, true);
  };
  await within('all of them at once', all(), dials * longMs - 500);
});

test('idleTxInterval: circuits idle for idleCircuitTimeout are confirmed with their controller', async (t) => {
  const scene = await open(t, { idleTxInterval: 100, idleCircuitTimeout: 400 });
  const startedMs = performance.now();
  route(scene, 'c1');
  await nextResult(scene);
  const { circuitIds } = await scene.controller.next('circuitConfirmation');
  assert.deepEqual(circuitIds, ['c1']);
  const tookMs = performance.now() - startedMs;
  assert.ok(tookMs >= 350, `${tookMs} ms`);
  // The next check is an interval later; without the option it would be a minute later.
  await scene.controller.next('circuitConfirmation');
});

test('faultTxInterval: a frame of an unknown circuit is reported after this interval, and with 0 it is not', async (t) => {
  const scene = await open(t, { faultTxInterval: 300 }, LINK);
  const peer = await link(scene);
  const startedMs = performance.now();
  peer.sendPayload('unknown', 0, 0, Buffer.from('lost'));
  const fault = await scene.controller.next('fault');
  assert.deepEqual([fault.subject, fault.id], [FaultSubject.UNKNOWN_OWNER_FORWARD_FAULT, 'unknown']);
  const tookMs = performance.now() - startedMs;
  assert.ok(tookMs >= 250, `${tookMs} ms`);

  const silent = await open(t, { faultTxInterval: 0, idleTxInterval: 0 }, LINK);
  const other = await link(silent);
  other.sendPayload('unknown', 0, 0, Buffer.from('lost'));
  route(silent, 'c1');
  await nextResult(silent);
  const faults = silent.controller.frames.filter(({ contentType: type }) => type === contentType.fault);
  assert.deepEqual(faults, []);
  assert.ok(silent.lines.some(({ message }) => message.includes('forwarder.idleTxInterval is 0')));
});

test('xgressCloseCheckInterval: a circuit that may end later is dropped when no payload came for this interval', async (t) => {
  const scene = await open(t, { xgressCloseCheckInterval: 500 }, LINK);
  const peer = await link(scene);
  route(scene, 'c1', peer.linkId);
  assert.equal((await nextResult(scene)).isSuccess, true);
  assert.equal(scene.router.circuitCount, 1);
  // One that never began would be dropped at once.
  peer.sendPayload('c1', 0, PAYLOAD_FLAGS.circuitStart, Buffer.from('begun'));
  await until(
    'the answer of the service',
    () => peer.frames.some(({ contentType: type }) => type === PAYLOAD_TYPE),
    Boolean,
  );
  const startedMs = performance.now();
  scene.controller.send(ctrlMessages.unroute.frame({ circuitId: 'c1', now: false }));
  await until(
    'the end of the circuit',
    () => scene.router.circuitCount,
    (count) => count === 0,
  );
  const tookMs = performance.now() - startedMs;
  assert.ok(tookMs >= 400, `${tookMs} ms`);
});

test('linkDialWorkerCount links are dialed at once, linkDialQueueLength wait, one more is put off', async (t) => {
  const options = { connectTimeout: '60s' };
  const scene = await open(
    t,
    { linkDialWorkerCount: 2, linkDialQueueLength: 1 },
    { link: { dialers: [{ binding: 'transport', options }] } },
  );
  const { stage, controller, lines } = scene;
  // Peers that never answer a hello hold their workers.
  const peers = await Promise.all(['r2', 'r3', 'r4', 'r5'].map((id) => stage.linkPeer(id, true)));
  const changes = peers.flatMap(({ news }) => news.changes ?? []);
  controller.send(ctrlMessages.peerStateChanges.frame({ changes }));
  const dialed = (): number => peers.filter(({ connectionCount }) => connectionCount > 0).length;
  await until('two dials', dialed, (count) => count === 2);
  await until(
    'a dial that finds no room',
    () => lines.filter(({ message }) => message === 'too many links wait to be dialed'),
    ({ length }) => length > 0,
  );
  assert.equal(dialed(), 2);
  // The one that waits comes when a worker is free.
  const first = peers.filter(({ connectionCount }) => connectionCount > 0);
  first[0]!.close();
  await until(
    'the third dial',
    () => peers.filter((peer) => !first.includes(peer) && peer.connectionCount > 0).length,
    (count) => count === 1,
  );
});

test('latencyProbeInterval is the interval of heartbeats on links', async (t) => {
  const scene = await open(t, { latencyProbeInterval: 1_000 }, LINK);
  const peer = await link(scene);
  // The default interval is 10 s.
  await until(
    'two heartbeats',
    () => peer.heartbeatCount,
    (count) => count >= 2,
    8_000,
  );
});

test('an interval of heartbeats in link goes before latencyProbeInterval', async (t) => {
  const heartbeats = { sendInterval: '1s' };
  const scene = await open(t, { latencyProbeInterval: 60_000 }, { link: { ...LINK.link, heartbeats } });
  const peer = await link(scene);
  await until(
    'two heartbeats',
    () => peer.heartbeatCount,
    (count) => count >= 2,
  );
});
