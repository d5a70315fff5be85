import assert from 'node:assert/strict';
import { argon2Sync } from 'node:crypto';
import { test } from 'node:test';
import { hashPassword, Turns } from './password-hash.ts';

test('equal passwords have unequal hashes, each of which proves the password', async () => {
  const password = 'Zo\u00eb writes';
  const hashes = await Promise.all([hashPassword(password), hashPassword(password)]);
  assert.notEqual(hashes[0], hashes[1]);
  for (const phc of hashes) {
    const [, algorithm, version, parameters, salt = '', tag = ''] = phc.split('$');
    assert.deepEqual([algorithm, version, parameters], ['argon2id', 'v=19', 'm=19456,t=2,p=1']);
    const again = argon2Sync('argon2id', {
      ...{ message: password, nonce: Buffer.from(salt, 'base64'), tagLength: 32 },
      ...{ memory: 19_456, passes: 2, parallelism: 1 },
    });
    assert.deepEqual(again, Buffer.from(tag, 'base64'));
  }
});

test('work is done in turns: some at once, some waiting in order, more refused, and a failure gives its turn on', async () => {
  const turns = new Turns(2, 2);
  const begun: number[] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  const work = (id: number) => {
    const end = Promise.withResolvers<void>();
    ends[id] = end;
    return turns.take(async () => {
      begun.push(id);
      await end.promise;
      return id;
    });
  };
  const all = [work(0), work(1), work(2), work(3)];
  await assert.rejects(work(4), { kind: 'limited' });
  assert.deepEqual(begun, [0, 1]);
  ends[1]!.reject(new Error('broken'));
  await assert.rejects(all[1]!, /broken/);
  assert.deepEqual(begun, [0, 1, 2]);
  for (const id of [0, 2, 3]) ends[id]!.resolve();
  assert.deepEqual(await Promise.all([all[0], all[2], all[3]]), [0, 2, 3]);
  assert.equal(await turns.take(async () => 'free again'), 'free again');
});
