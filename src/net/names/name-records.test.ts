import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NameRecordLookups } from './name-records.ts';

test('look-ups of names end with what is known, and few run at once', async () => {
  const lookups = new NameRecordLookups();
  // The name is reserved (RFC 6761), and there may be no name server here.
  const running = Array.from({ length: 10 }, () => lookups.of('name.invalid', 'one'));
  const others = Array.from({ length: 30 }, (_, at) => lookups.of('name.invalid', `group ${at}`));
  const answers = await Promise.all(running);
  assert.equal(answers.filter((answer) => answer === undefined).length, 2, 'of one group');
  const ofOthers = await Promise.all(others);
  assert.equal(ofOthers.filter((answer) => answer === undefined).length, 6, 'of all');
  for (const answer of answers)
    if (answer !== undefined) assert.deepEqual([answer.alias, answer.addresses], [undefined, []]);
  assert.notEqual(await lookups.of('name.invalid', 'one'), undefined);
});
