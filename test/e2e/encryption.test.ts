// Encryption from end to end through a whole product: a client that insists on it reaches a share of our agent.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { silentLog } from '#base';
import { OverlayClient } from '#sdk';
import { within } from '../support/deadline.ts';
import { startPrivateService, type PrivateService } from '../support/private-service.ts';
import { openWorld, type World } from '../support/world.ts';

const DIAL_MS = 10_000;

let world: World;
let service: PrivateService;

before(async () => {
  service = await startPrivateService();
  world = await openWorld();
});
after(async () => {
  await world?.close();
  await service.close();
});

test('a client that requires encryption gets its answer from a private share', async (t) => {
  const identity = await world.enrollEnvironment('guest');
  const overlay = new OverlayClient({ api: identity.api, log: silentLog, name: 'guest' });
  t.after(() => overlay.close());
  const agent = await world.startAgent('site');
  const target = `http://127.0.0.1:${service.port}`;
  await agent.share(target, { name: 'sealed', mode: 'private', grants: [identity.id] });
  const listed = await identity.api.serviceByName('sealed');
  assert.equal(listed!.encryptionRequired, true);
  const circuit = await overlay.dial(listed!.id, DIAL_MS, { isEncryptionRequired: true });
  const parts: Uint8Array[] = [];
  circuit.onData = (view) => void parts.push(view);
  const ended = new Promise<void>((resolve) => {
    circuit.onEnd = resolve;
  });
  circuit.resume();
  circuit.write(Buffer.from('GET / HTTP/1.1\r\nHost: private\r\nConnection: close\r\n\r\n'));
  await within('the answer', ended);
  assert.match(Buffer.concat(parts).toString('latin1'), /^HTTP\/1\.1 200[^]*private$/);
  circuit.destroy();
});
