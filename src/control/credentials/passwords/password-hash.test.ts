import assert from 'node:assert/strict';
import { argon2Sync } from 'node:crypto';
import { test } from 'node:test';
import { REAL_COST, withPasswordCost } from './password-cost-fixture.ts';
import { heldPasswordTurns } from './password-turns-fixture.ts';
import { hashPassword, isPasswordOf, passwordTurns, PasswordTurns } from './password-hash.ts';

test('equal passwords have unequal hashes, each of which proves the password', async () => {
  const password = 'Zo\u00eb writes';
  const twice = () => Promise.all([hashPassword(password), hashPassword(password)]);
  const hashes = await withPasswordCost(REAL_COST, twice);
  assert.notEqual(hashes[0], hashes[1]);
  for (const phc of hashes) {
    const [, algorithm, version, parameters, salt = '', tag = ''] = phc.split('$');
    assert.deepEqual([algorithm, version, parameters], ['argon2id', 'v=19', 'm=19456,t=2,p=1']);
    const again = argon2Sync('argon2id', {
      message: password,
      nonce: Buffer.from(salt, 'base64'),
      tagLength: 32,
      memory: 19_456,
      passes: 2,
      parallelism: 1,
    });
    assert.deepEqual(again, Buffer.from(tag, 'base64'));
  }
});

test('a hash proves its password after the cost of new ones was raised', async () => {
  const guest = { address: '192.0.2.1' };
  const before = await hashPassword('plum giraffe');
  await withPasswordCost({ memoryKib: 128, passes: 2 }, async () => {
    assert.match(await hashPassword('plum giraffe'), /\$m=128,t=2,p=1\$/);
    assert.equal(await isPasswordOf('plum giraffe', before, guest), true);
    assert.equal(await isPasswordOf('plum giraffes', before, guest), false);
  });
});

/** Work that continues until its end is called; the ids show which has begun. */
function workAt(turns: PasswordTurns) {
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const work = (id: string, address?: string): Promise<string> => {
    const end = Promise.withResolvers<void>();
    ends.set(id, end);
    return turns.take(address === undefined ? undefined : { address }, async () => {
      begun.push(id);
      await end.promise;
      return id;
    });
  };
  return { begun, ends, work };
}

test('work is done in turns: some at once, some waiting in order, more refused, and a failure gives its turn on', async () => {
  const turns = new PasswordTurns(2, 2);
  const { begun, ends, work } = workAt(turns);
  const all = [work('0'), work('1'), work('2'), work('3')];
  await assert.rejects(work('4'), { kind: 'limited' });
  assert.deepEqual(begun, ['0', '1']);
  ends.get('1')!.reject(new Error('broken'));
  await assert.rejects(all[1]!, /broken/);
  assert.deepEqual(begun, ['0', '1', '2']);
  for (const id of ['0', '2', '3']) ends.get(id)!.resolve();
  assert.deepEqual(await Promise.all([all[0], all[2], all[3]]), ['0', '2', '3']);
  assert.equal(await turns.take(undefined, async () => 'free again'), 'free again');
});

test('guests halve what callers with credentials get, at most, and the guest who is displaced is refused', async () => {
  const turns = new PasswordTurns(1, 3);
  const { begun, ends, work } = workAt(turns);
  const all = [work('running', '192.0.2.1')];
  for (const id of ['a1', 'a2', 'a3']) all.push(work(id, '192.0.2.1'));
  for (const id of ['p1', 'p2', 'p3']) all.push(work(id));
  const displaced = all[3]!;
  all.push(work('b1', '198.51.100.1'));
  await assert.rejects(displaced, { kind: 'limited', retryAfterSeconds: 15 });
  for (const { resolve } of ends.values()) resolve();
  await Promise.allSettled(all);
  assert.deepEqual(begun, ['running', 'p1', 'b1', 'p2', 'a1', 'p3', 'a2']);
});

test('a guest who has left has no turn, and makes room', async () => {
  const turns = new PasswordTurns(1, 2);
  const end = Promise.withResolvers<void>();
  const running = turns.take(undefined, () => end.promise);
  const stop = new AbortController();
  const begun: string[] = [];
  const guest = (address: string, signal?: AbortSignal) =>
    turns.take({ address, signal }, async () => void begun.push(address));
  const left = guest('192.0.2.1', stop.signal);
  const stays = guest('198.51.100.1');
  stop.abort();
  await assert.rejects(left, { kind: 'limited' });
  await assert.rejects(guest('192.0.2.1', stop.signal), { kind: 'limited' });
  const late = guest('203.0.113.1');
  end.resolve();
  await Promise.all([running, stays, late]);
  assert.deepEqual(begun, ['198.51.100.1', '203.0.113.1']);
});

test('an attempt begins when it has its turn, and not when it is refused before', async () => {
  const hash = await hashPassword('plum giraffe');
  let begun = 0;
  const guest = {
    address: '192.0.2.1',
    begun: async () => {
      begun += 1;
    },
  };
  const release = heldPasswordTurns(passwordTurns);
  await assert.rejects(isPasswordOf('plum giraffe', hash, guest), { kind: 'limited' });
  assert.equal(begun, 0);
  await release();
  assert.equal(await isPasswordOf('plum giraffe', hash, guest), true);
  assert.equal(await isPasswordOf('plum giraffe', undefined, guest), false);
  assert.equal(begun, 2);
  const failing = { address: '192.0.2.1', begun: () => Promise.reject(new Error('no database')) };
  await assert.rejects(isPasswordOf('plum giraffe', hash, failing), /no database/);
});
