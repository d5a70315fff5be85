// A renewed certificate means a new log-in: what stands continues, and what is new works, on both ends of the overlay.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { silentLog } from '#base';
import { makeKeyRequest, OverlayClient, type Circuit, type EdgeApiClient } from '#sdk';
import { startCanary } from '../support/canary.ts';
import { until } from '../support/deadline.ts';
import { startRawService, type FaultyService } from '../support/faulty-service.ts';
import { openWorld, type World, type WorldAgent, type WorldIdentity } from '../support/world.ts';

const DIAL_MS = 30_000;
const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nsame';

let world: World;
let service: FaultyService;
let agent: WorldAgent;
let dialer: WorldIdentity;
let overlay: OverlayClient;

before(async () => {
  // Never ends an idle connection, as a server of node:http does after seconds.
  service = await startRawService((socket) => void socket.write(ANSWER));
  world = await openWorld();
  dialer = await world.enrollEnvironment('dialer');
  agent = await world.startAgent('site');
  await share('first');
  await agent.share(service.target, { name: 'canary' });
  overlay = new OverlayClient({ api: dialer.api, log: silentLog, name: 'dialer' });
});

after(async () => {
  overlay?.close();
  await world?.close();
  await service.stop();
});

async function share(name: string): Promise<string> {
  const { readiness } = await agent.share(service.target, { name, mode: 'private', grants: [dialer.id] });
  assert.equal(readiness.ready, true, JSON.stringify(readiness));
  return (await dialer.api.serviceByName(name))!.id;
}

async function renew(api: EdgeApiClient, id: string): Promise<void> {
  const { keyPem, csrPem } = await makeKeyRequest(id);
  const certPem = await api.extendIdentity(csrPem);
  api.useIdentity({ ...api.identity, keyPem, certPem });
  await api.session();
}

/** The answers to a request each time it is asked, over one circuit. */
function asker(circuit: Circuit): () => Promise<string> {
  let waiting: ((text: string) => void) | undefined;
  circuit.onData = (bytes) => waiting?.(Buffer.from(bytes).toString('latin1'));
  circuit.onClose = (error) => waiting?.(String(error));
  circuit.resume();
  return () =>
    new Promise((resolve) => {
      waiting = resolve;
      circuit.write(Buffer.from('GET / HTTP/1.1\r\nHost: private\r\n\r\n'));
    });
}

describe('after a renewed certificate', () => {
  it('a client keeps its circuits, and dials what it never dialed before', async () => {
    const { id } = (await dialer.api.serviceByName('first'))!;
    const ask = asker(await overlay.dial(id, DIAL_MS));
    assert.match(await ask(), /same$/);
    await renew(dialer.api, dialer.id);
    const second = await share('second');
    const { value } = await until(
      'a circuit on the new session',
      () => overlay.dial(second, DIAL_MS),
      () => true,
    );
    assert.match(await asker(value)(), /same$/);
    const again = await overlay.dial(id, DIAL_MS);
    assert.match(await asker(again)(), /same$/);
    assert.match(await ask(), /same$/);
  });

  it('an agent is reached without a break, and hosts what it never hosted before', async () => {
    await using canary = startCanary(world.up.httpPort, 'canary.share.localhost', '/', 'same'.length);
    await until(
      'the canary',
      () => canary.requests,
      (count) => count > 5,
    );
    await renew(agent.api, agent.environmentId);
    const third = await share('third');
    assert.match(await asker(await overlay.dial(third, DIAL_MS))(), /same$/);
    await canary.stop(canary.requests + 20);
  });
});
