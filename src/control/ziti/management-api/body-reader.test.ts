import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EdgeApiRefusal } from '../../overlay/clients/mod.ts';
import type { JsonObject } from '../../overlay/model/mod.ts';
import { choice, flag, freeObject, list, neededText, part, textOrNull, texts, whole } from './body-fields.ts';
import { entityReader } from './body-reader.ts';

const read = entityReader(
  {
    kind: choice(['first', 'second']),
    note: textOrNull(),
    isOn: flag(),
    cost: whole(10),
    roles: texts(),
    rows: list(part({ path: neededText(4) }), 2),
    rule: part({ limit: whole(3) }),
    extra: freeObject(40),
  },
  (fields) => fields,
  { accepted: { strategy: ['usual'] } },
);

function refusalOf(body: JsonObject): readonly (string | undefined)[] {
  try {
    read({ name: 'a', ...body });
  } catch (error) {
    if (!(error instanceof EdgeApiRefusal)) throw error;
    // Its field, the reason and the value.
    return Object.values(error.detail!).map(String);
  }
  return [];
}

test('absent, null and empty fields have their defaults, and unknown empty fields are left out', () => {
  const defaults = {
    kind: 'first',
    note: null,
    isOn: false,
    cost: 0,
    roles: [],
    rows: [],
    rule: { limit: 0 },
    extra: {},
  };
  assert.deepEqual(read({ name: 'a' }), { name: 'a', tags: {}, data: defaults });
  const empty = { name: 'a', note: '', isOn: null, cost: null, roles: null, rule: null, more: '', other: {} };
  assert.deepEqual(read({ ...empty, strategy: 'usual' }).data, defaults);
  const given = { name: 'a', tags: { x: null }, roles: ['b', 'a', 'b'], rows: [{ path: '/' }] };
  const found = read({ ...given, rule: { limit: 3, odd: 0 } });
  assert.deepEqual(found.tags, { x: null });
  assert.deepEqual(found.data, { ...defaults, roles: ['b', 'a'], rows: [{ path: '/' }], rule: { limit: 3 } });
});

test('a field of the wrong form is refused with its place, the reason and what was given', () => {
  for (const [body, ...expected] of [
    [{ name: '' }, 'name', 'name must have 1 to 256 characters', '""'],
    [{ name: 'a\n' }, 'name', 'name must be a text without control characters', '"a\\n"'],
    [{ kind: 'third' }, 'kind', 'kind must be one of [first,second]', '"third"'],
    [{ note: 5 }, 'note', 'note must be a text of at most 1024 characters', '5'],
    [{ isOn: 1 }, 'isOn', 'isOn must be true or false', '1'],
    [{ cost: 11 }, 'cost', 'cost must be a whole number from 0 to 10', '11'],
    [{ roles: ['a', ''] }, 'roles', 'roles must be a list of at most 512 texts', '["a",""]'],
    [{ rows: [{ path: '/' }, {}] }, 'rows[1].path', 'path is missing', ''],
    [{ rows: [{ path: '/long' }] }, 'rows[0].path', 'path must be a text of 1 to 4 characters', '"/long"'],
    [{ rule: { odd: 1 } }, 'rule.odd', 'odd is not a field of this entity', '1'],
    [{ extra: [] }, 'extra', 'extra must be an object', '[]'],
    [{ 'a.b': true }, 'a.b', 'a.b is not a field of this entity', 'true'],
    [{ __proto__: null, constructor: 1 }, 'constructor', 'constructor is not a field of this entity', '1'],
    [{ strategy: 'other' }, 'strategy', 'strategy is not supported', '"other"'],
  ] as const)
    assert.deepEqual(refusalOf(body), expected);
  const [field, reason, value] = refusalOf({ extra: { text: 'x'.repeat(300) } });
  assert.deepEqual([field, reason], ['extra', 'extra must be an object of at most 40 characters as JSON']);
  assert.equal(value!.length, 200);
});
