// A private share is reached by those it is granted to, for as long as it is: when the grant, the environment or the
// share goes, live circuits end within ten seconds and nothing new is dialed from the answer on.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readHostPort, silentLog } from '#base';
import { callAgent } from '#cli';
import { OverlayClient, type Circuit } from '#sdk';
import { until, within } from '../support/deadline.ts';
import { startHttpService, type FaultyService } from '../support/faulty-service.ts';
import { httpGet, openWorld, type World, type WorldAgent, type WorldIdentity } from '../support/world.ts';

const CUT_MS = 10_000;

let world: World;
let service: FaultyService;
let agent: WorldAgent;
const overlays: OverlayClient[] = [];

before(async () => {
  service = await startHttpService((_request, response) => response.end('private'));
  world = await openWorld();
  agent = await world.startAgent('site');
});
after(async () => {
  for (const overlay of overlays) overlay.close();
  await world?.close();
  await service.stop();
});

interface Guest {
  readonly identity: WorldIdentity;
  readonly overlay: OverlayClient;
}

async function guest(name: string): Promise<Guest> {
  const identity = await world.enrollEnvironment(name);
  const overlay = new OverlayClient({ api: identity.api, log: silentLog, name });
  overlays.push(overlay);
  return { identity, overlay };
}

async function share(name: string, guests: readonly Guest[]): Promise<string> {
  const grants = guests.map(({ identity }) => identity.id);
  await agent.share(service.target, { name, mode: 'private', grants });
  return (await guests[0]!.identity.api.serviceByName(name))!.id;
}

/** An answer came through it, so that it stands end to end; and when it ends. */
async function live(circuit: Circuit): Promise<{ readonly ended: Promise<unknown> }> {
  const { promise: ended, resolve } = Promise.withResolvers<unknown>();
  const answered = new Promise<void>((markAnswered) => {
    let text = '';
    circuit.onData = (bytes) => {
      text += Buffer.from(bytes).toString('latin1');
      if (text.endsWith('private')) markAnswered();
    };
  });
  circuit.onClose = resolve;
  circuit.resume();
  circuit.write(Buffer.from('GET / HTTP/1.1\r\nHost: private\r\n\r\n'));
  await within('its answer', answered);
  return { ended };
}

async function done(call: ReturnType<World['call']>): Promise<void> {
  const { status, text } = await call;
  assert.ok(status < 300, text);
}

describe('a private share', () => {
  it('is cut off from an environment whose grant goes, and from no other', async () => {
    const [staying, leaving] = [await guest('staying'), await guest('leaving')];
    const id = await share('granted', [staying, leaving]);
    const cut = await live(await leaving.overlay.dial(id, CUT_MS));
    const kept = await staying.overlay.dial(id, CUT_MS);
    const { ended: keptEnds } = await live(kept);
    await done(world.call('PATCH', '/shares/granted', { grants: [staying.identity.id] }));
    await assert.rejects(leaving.overlay.dial(id, CUT_MS), { code: 'not-authorized' });
    await within('the circuit of the lost grant ends', cut.ended, CUT_MS);
    await live(await staying.overlay.dial(id, CUT_MS));
    const stillThere = Symbol('still there');
    assert.equal(await Promise.race([keptEnds, Promise.resolve(stillThere)]), stillThere);
    kept.destroy();
  });

  it('is cut off from an environment that is deleted', async () => {
    const leaving = await guest('deleted');
    const id = await share('left', [leaving]);
    const { ended } = await live(await leaving.overlay.dial(id, CUT_MS));
    await done(world.call('DELETE', `/environments/${leaving.identity.id}`));
    await assert.rejects(leaving.overlay.dial(id, 1_000));
    await within('the circuit of the deleted environment ends', ended, CUT_MS);
  });

  it('is cut off when it is deleted itself, and when its host is', async () => {
    const staying = await guest('visitor');
    const first = await share('short', [staying]);
    const { ended } = await live(await staying.overlay.dial(first, CUT_MS));
    await done(world.call('DELETE', '/shares/short'));
    await assert.rejects(staying.overlay.dial(first, 1_000));
    await within('the circuit of the deleted share ends', ended, CUT_MS);

    const second = await share('hosted', [staying]);
    const hosted = await live(await staying.overlay.dial(second, CUT_MS));
    await done(world.call('DELETE', `/environments/${agent.environmentId}`));
    await assert.rejects(staying.overlay.dial(second, 1_000));
    await within('the circuit to the deleted host ends', hosted.ended, CUT_MS);
  });
});

describe('a private share that an agent makes accessible on its machine', () => {
  it('serves the machine’s programs until the grant goes, and again after it is back', async () => {
    const host = await world.startAgent('host');
    const visitor = await world.startAgent('visitor');
    const grantTo = async (...grants: string[]): Promise<void> => {
      const { status } = await world.call('PATCH', '/shares/accessed', { grants });
      assert.equal(status, 200);
    };
    await host.share(service.target, {
      name: 'accessed',
      mode: 'private',
      grants: [visitor.environmentId],
    });
    const request = { op: 'access', share: 'accessed', host: '127.0.0.1', port: 0, protocol: 'tcp' } as const;
    const { listen, isOpen, problem } = await callAgent(visitor.agent.socketPath, request);
    assert.deepEqual([isOpen, problem], [true, null]);
    const get = (): Promise<string> =>
      httpGet(readHostPort(listen)!.port, 'accessed', '/').then(({ body }) => String(body), String);
    const untilAnswer = (text: string): Promise<unknown> =>
      until(`the answer ${text}`, get, (answer) => answer.includes(text), CUT_MS);
    await untilAnswer('private');
    await grantTo();
    await untilAnswer('ECONNRESET');
    const { accesses } = await callAgent(visitor.agent.socketPath, { op: 'status' });
    assert.match(accesses[0]!.problem!, /there is no service "accessed" that this identity may dial/);
    await grantTo(visitor.environmentId);
    await untilAnswer('private');
  });
});
