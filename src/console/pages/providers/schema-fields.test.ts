// Every form of schema becomes a field, and what is typed into it the data that the schema describes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dataOf, draftOf, madeSecrets, patchOf, UnreadableJson } from './provider-draft.ts';
import { fieldsOf, pathsOf, type JsonSchema } from './schema-fields.ts';

const schema: JsonSchema = {
  type: 'object',
  required: ['kind', 'url'],
  properties: {
    note: { type: 'string', description: 'A note' },
    kind: { type: 'string', enum: ['a', 'b'] },
    url: { type: 'string', format: 'uri' },
    secret: { type: 'string', writeOnly: true },
    flag: { type: ['boolean', 'null'] },
    count: { type: 'integer', minimum: 1, maximum: 9 },
    tags: { type: 'array', items: { type: 'string' } },
    items: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, key: { type: 'string', format: 'password' } },
      },
    },
    nested: { type: 'object', properties: { inner: { type: 'string', format: 'date-time' } } },
    how: {
      oneOf: [
        { type: 'object', title: 'By file', properties: { by: { const: 'file' }, path: { type: 'string' } } },
        { type: 'object', properties: { by: { const: 'port' }, port: { type: 'integer' } } },
      ],
    },
    any: {},
    map: { type: 'object', additionalProperties: true },
    rows: { type: 'array', items: { type: 'array' } },
    mixed: { enum: [1, 'two'] },
    seen: { readOnly: true },
  },
};
const fields = fieldsOf(schema);
const byName = new Map(fields.map((field) => [field.name, field]));

test('each form of schema has its kind of field, the required ones first', () => {
  assert.deepEqual(
    fields.map(({ name, kind }) => `${name} ${kind}`),
    [
      'kind choice',
      'url address',
      'note text',
      'secret secret',
      'flag boolean',
      'count number',
      'tags texts',
      'items list',
      'nested group',
      'how variants',
      'any json',
      'map json',
      'rows json',
      'mixed json',
      'seen shown',
    ],
  );
  assert.equal(byName.get('note')!.help, 'A note');
  assert.deepEqual(
    fieldsOf({ properties: { x: true, y: null, z: 3 } }).map(({ kind }) => kind),
    ['json', 'json', 'json'],
  );
  assert.deepEqual(fieldsOf({}), []);
});

test('data come back from their draft as they were', () => {
  const data = {
    kind: 'a',
    url: 'https://a.example',
    secret: '********',
    flag: false,
    count: 3,
    tags: ['x', 'y'],
    items: [{ name: 'one', key: '********' }],
    nested: { inner: '2030-01-01T00:00:00Z' },
    how: { by: 'port', port: 5 },
    any: [1, { a: null }],
    map: { a: 1 },
    rows: [[1]],
    mixed: 1,
  };
  assert.deepEqual(dataOf(fields, draftOf(fields, { ...data, seen: 'now' })), data);
  assert.deepEqual(patchOf(fields, { ...data, seen: 'now', other: 1 }, data), {});
});

test('an empty form sends nothing but what is always there', () => {
  assert.deepEqual(dataOf(fields, draftOf(fields, {})), { items: [{}], how: { by: 'file' } });
});

test('a patch has what differs, and null for what was emptied', () => {
  const before = { url: 'https://a.example', note: 'x', secret: '********', tags: ['x'] };
  const after = dataOf(fields, { ...draftOf(fields, before), url: 'https://b.example', note: '' });
  assert.deepEqual(patchOf(fields, before, after), { url: 'https://b.example', note: null });
});

test('numbers that are none are sent as they are, and JSON that is none is named', () => {
  const draft = { ...draftOf(fields, {}), count: 'many' };
  assert.equal(dataOf(fields, draft)['count'], 'many');
  assert.throws(
    () => dataOf(fields, { ...draft, map: '{' }),
    (error) => error instanceof UnreadableJson && error.path === 'data.map',
  );
});

test('a field is required where a condition of its type demands it', () => {
  const one = { properties: { tenant: { type: 'string', pattern: '^(?!several$)' } } };
  const conditional = { ...schema, allOf: [{ if: one, else: { required: ['note'] } }] };
  const isRequired = (tenant: string): boolean | undefined =>
    fieldsOf(conditional, { tenant }).find(({ name }) => name === 'note')?.isRequired;
  assert.deepEqual(['', 'one', 'several'].map(isRequired), [false, false, true]);
});

test('the names of messages follow the items of lists', () => {
  const paths = pathsOf(fields, 'data', (path) => (path === 'data.items' ? 2 : 0));
  const expected = ['data.kind', 'data.items.0.name', 'data.items.1.key', 'data.nested.inner', 'data.how'];
  assert.deepEqual(
    expected.filter((path) => !paths.includes(path)),
    [],
  );
});

test('secrets that the service made are those that nobody sent', () => {
  const sent = {
    items: [{ name: 'one', key: '********' }, { name: 'two' }, { name: 'three', key: 'typed' }],
  };
  const answered = {
    items: [
      { name: 'one', key: '********' },
      { name: 'two', key: 'made' },
      { name: 'three', key: 'typed' },
    ],
  };
  assert.deepEqual(madeSecrets(fields, sent, answered), [['two', 'made']]);
  assert.deepEqual(madeSecrets(fields, {}, { secret: 'made' }), [['secret', 'made']]);
  assert.deepEqual(madeSecrets(fields, { secret: 'x' }, { secret: 'x' }), []);
});
