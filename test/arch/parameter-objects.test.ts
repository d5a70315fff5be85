// A context, or another object that a part of the control plane is made with, has at most twelve fields, those that it inherits
// included. With more, its users see what they do not use, and a test of one has to make all of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LARGER_CONTEXTS, LIMITS } from '../../tools/limit-table.ts';
import { parameterObjects } from '../../tools/parameter-objects.ts';

const objects = parameterObjects();
const large = objects.filter(({ fields }) => fields > LIMITS.contextFields);

test('what a part of the control plane is made with has at most twelve fields', () => {
  assert.ok(objects.length > 50, 'the interfaces of the control plane were not found');
  assert.deepEqual(
    large.filter(({ name }) => !LARGER_CONTEXTS.has(name)),
    [],
    'take what is used, or group what belongs together',
  );
});

test('the list of larger types names none that is small or gone', () => {
  assert.deepEqual(
    [...LARGER_CONTEXTS.keys()].filter((name) => !large.some((each) => each.name === name)),
    [],
  );
});
