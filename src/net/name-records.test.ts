import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NameRecordLookups } from './name-records.ts';

test('look-ups of names end with what is known, and few run at once', async () => {
  const lookups = new NameRecordLookups();
  // The name is reserved (RFC 6761), and there may be no name server here.
  const running = Array.from({ length: 20 }, () => lookups.of('name.invalid'));
  const answers = await Promise.all(running);
  assert.equal(answers.filter((answer) => answer === undefined).length, 4);
  for (const answer of answers)
    if (answer !== undefined) assert.deepEqual([answer.alias, answer.addresses], [undefined, []]);
  assert.notEqual(await lookups.of('name.invalid'), undefined);
});
