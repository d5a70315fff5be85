import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instanceIdOf } from './identity-template.ts';

const identity = { name: 'gate', appData: { site: 'oslo', port: 7, nested: { a: 1 } } };

test('a template is filled with the name and the application data of the identity', () => {
  const cases = [
    ['', ''],
    ['fixed', 'fixed'],
    ['$tunneler_id.name', 'gate'],
    ['$tunneler_id.appData[site]-$tunneler_id.appData[port]', 'oslo-7'],
    ['$tunneler_id.appData[nested]', '{"a":1}'],
    ['x$tunneler_id.appData[missing]y', 'xy'],
    ['$tunneler_id.appData[__proto__]', ''],
    ['$dst_hostname', '$dst_hostname'],
  ] as const;
  for (const [template, filled] of cases) assert.equal(instanceIdOf(template, identity), filled);
});

test('a value that contains a variable is not filled again', () => {
  const own = { name: '$tunneler_id.appData[site]', appData: { site: '$tunneler_id.name' } };
  assert.equal(instanceIdOf('$tunneler_id.name', own), '$tunneler_id.appData[site]');
});

test('a template with an open bracket, or with a result that is too long, is refused', () => {
  for (const template of ['$tunneler_id.appData[site', 'x'.repeat(2_000)])
    assert.throws(() => instanceIdOf(template, identity), { code: 'invalid-template' });
});
