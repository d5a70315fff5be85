import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock, silentLog } from '#base';
import { KeyRotation } from '../../credentials/oauth/mod.ts';
import { ephemeralSecrets } from '../../secrets/key-file.ts';
import type { ServiceGrant } from '../../overlay/model/mod.ts';
import { openEmbedded } from '../../store/engine/migrated-copy-fixture.ts';
import { openEdgeTokenKeys } from './edge-token-keys.ts';
import { ServiceTokens } from './service-tokens.ts';

const DAY_MS = 86_400_000;
const grant: ServiceGrant = { serviceId: 's', identityId: 'i', apiSessionId: 'a', type: 'Dial' };

test('keys of service tokens are replaced after a year; routers receive the new ones, and no token ends early', async () => {
  const clock = new ManualClock();
  const secrets = ephemeralSecrets();
  const store = await openEmbedded();
  const rotation = await KeyRotation.start({ store, secrets, clock, log: silentLog });
  const keys = await openEdgeTokenKeys(store, secrets, clock);
  const tokens = new ServiceTokens(keys, 'https://localhost', clock);
  let changes = 0;
  keys.onChanged(() => (changes += 1));
  const old = tokens.mint(grant);
  const [first] = keys.keys();

  clock.advance(365 * DAY_MS - 10_000);
  const oldest = tokens.mint(grant);
  clock.advance(10_000);
  await rotation.look();
  assert.ok(changes > 0);
  assert.equal(keys.keys().length, 2);
  assert.equal(tokens.verify(old), undefined);
  assert.deepEqual(tokens.verify(oldest), grant);
  const between = tokens.mint(grant);
  clock.advance(5 * 60_000);
  const later = tokens.mint(grant);
  const kidOf = (token: string): unknown =>
    (JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()) as { kid: string }).kid;
  assert.equal(kidOf(between), first!.kid);
  assert.notEqual(kidOf(later), first!.kid);

  clock.advance(365 * DAY_MS - 5 * 60_000 - 1_000);
  assert.deepEqual([tokens.verify(oldest), tokens.verify(between)], [undefined, grant]);
  clock.advance(1_000 + 6 * 60_000);
  assert.deepEqual([tokens.verify(between), tokens.verify(later)], [undefined, undefined]);
  assert.ok(!keys.keys().some(({ kid }) => kid === first!.kid));
  await rotation.close();
  await store.close();
});
