import assert from 'node:assert/strict';
import { test } from 'node:test';
import { substituteEnvironment } from './environment-substitution.ts';

const environment = { A: 'one', B_2: 'two', '1': 'digit', 'odd name': 'odd' };

test('names are replaced in strings, in maps and lists at any depth, and never in keys', () => {
  const value = { $A: ['$A', { deep: '<${B_2}>' }], number: 3, nothing: null, flag: true };
  assert.deepEqual(substituteEnvironment(value, environment), {
    $A: ['one', { deep: '<two>' }],
    number: 3,
    nothing: null,
    flag: true,
  });
});

test('the edges are those of the shell form that OpenZiti uses: no default, no escape', () => {
  for (const [text, expected] of [
    ['$A$B_2', 'onetwo'],
    ['$Ax', ''],
    ['${A}x', 'onex'],
    ['$UNSET', ''],
    ['${UNSET:-x}', ''],
    ['${odd name}', 'odd'],
    ['$12', 'digit2'],
    ['$$', ''],
    ['a$', 'a$'],
    ['a$ b', 'a$ b'],
    ['${}x', 'x'],
    ['a${b', 'ab'],
  ] as const) {
    assert.equal(substituteEnvironment(text, environment), expected, text);
  }
});

test('what a variable holds is not looked at again', () => {
  assert.equal(substituteEnvironment('$A', { A: '${A}$B: [1]' }), '${A}$B: [1]');
});
