import assert from 'node:assert/strict';
import { test } from 'node:test';
import { within } from '../../../test/support/deadline.ts';
import { systemLookup } from './host-lookup.ts';

function outcomeOf(host: string): Promise<unknown[]> {
  const { promise, resolve } = Promise.withResolvers<unknown[]>();
  systemLookup(host, { all: true }, (...outcome) => resolve(outcome));
  return within('the look-up', promise);
}

test('the resolver of the system passes addresses or an error alone, also for names that Node throws for', async () => {
  const [none, found] = await outcomeOf('localhost');
  assert.equal(none, null);
  assert.ok(Array.isArray(found) && found.length > 0);
  for (const name of ['no-such-host.invalid', '', 'a\0b', 'x'.repeat(300)]) {
    const outcome = await outcomeOf(name);
    assert.equal(outcome.length, 1, JSON.stringify(name));
    assert.ok(outcome[0] instanceof Error);
  }
});
