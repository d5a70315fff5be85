import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '#base';
import { until } from '../../../../test/support/deadline.ts';
import { DatabasePulse } from './database-pulse.ts';

test('a statement that takes long is awaited while new connections come about, and given up when they do not', async () => {
  let probes = 0;
  let isThere = true;
  const probe = (): Promise<void> => {
    probes += 1;
    return isThere ? Promise.resolve() : Promise.reject(new Error('no answer'));
  };
  const pulse = new DatabasePulse({ probe, log: silentLog, silenceMs: 20 });
  const refusals: string[] = [];
  const end = pulse.wait(({ message }) => refusals.push(message));
  await until(
    'probes',
    () => probes,
    (count) => count >= 3,
  );
  assert.deepEqual(refusals, []);
  isThere = false;
  await until(
    'the refusal',
    () => refusals.length,
    (count) => count === 1,
  );
  assert.deepEqual(refusals, ['the database does not answer']);
  end(false);
  assert.throws(() => pulse.wait(() => {}), { kind: 'unavailable', code: 'store-unavailable' });
  isThere = true;
  await until(
    'a wait',
    () => {
      try {
        pulse.wait(() => {})(true);
        return true;
      } catch {
        return false;
      }
    },
    (isTaken) => isTaken,
  );
  pulse.close();
});
