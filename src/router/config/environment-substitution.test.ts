import assert from 'node:assert/strict';
import { test } from 'node:test';
import { substituteEnvironment } from './environment-substitution.ts';

const environment = { A: 'one', B_2: 'two', '1': 'digit', 'odd name': 'odd' };

test('the edges are those of the shell form that OpenZiti uses: no default, no escape', () => {
  for (const [text, expected] of [
    ['$A$B_2', 'onetwo'],
    ['<${B_2}>', '<two>'],
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

test('the value of a variable is not substituted again', () => {
  assert.equal(substituteEnvironment('$A', { A: '${A}$B: [1]' }), '${A}$B: [1]');
});

test('names that every object answers to are unset like any other', () => {
  assert.equal(substituteEnvironment('<${toString}$constructor${__proto__}>', {}), '<>');
});
