import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Type } from './schema-builder.ts';
import {
  anyObject,
  closed,
  lossyField,
  lossyList,
  mapOf,
  nullable,
  oneOf,
  open,
  orElse,
  refined,
  text,
  textPair,
  variants,
  withDefault,
} from './schema-parts.ts';
import { compileReader } from './schema-reader.ts';

const inner = { name: text(5), size: withDefault(Type.Integer({ minimum: 1 }), 1) };

describe('a reader', () => {
  it('returns a value that needs no change itself, and never changes one that came', () => {
    const read = compileReader(Type.Object(inner));
    const whole = { name: 'a', size: 2 };
    const given = read(whole);
    assert.ok('value' in given && given.value === whole);
    const partial = Object.freeze({ name: 'a', more: 1 });
    assert.deepEqual(read(partial), { value: { name: 'a', size: 1 }, lost: [] });
  });

  it('leaves out, keeps or refuses unknown fields, as the schema of the object defines', () => {
    const value = { name: 'a', size: 2, more: 1 };
    assert.deepEqual(compileReader(Type.Object(inner))(value), { value: { name: 'a', size: 2 }, lost: [] });
    assert.deepEqual(compileReader(open(inner))(value), { value, lost: [] });
    assert.deepEqual(compileReader(open(inner))({ name: 'a', more: 1 }), {
      value: { name: 'a', size: 1, more: 1 },
      lost: [],
    });
    assert.deepEqual(compileReader(closed(inner))(value), { field: 'more', rule: 'is not known here' });
  });

  it('names the path of what is wrong and the rule, and nothing of the value', () => {
    const schema = Type.Object({ list: Type.Array(Type.Object(inner), { maxItems: 2 }) });
    const read = compileReader(schema);
    const rows: readonly (readonly [unknown, string, string])[] = [
      [7, '', 'must be an object'],
      [{}, 'list', 'must be there'],
      [{ list: [{}, {}, {}] }, 'list', 'must be a list of at most 2 entries'],
      [
        { list: [{ name: 'a' }, { name: 'secret' }] },
        'list.1.name',
        'must be a text of at most 5 characters',
      ],
      [{ list: [{ name: 'a', size: 0 }] }, 'list.0.size', 'must be a whole number from 1'],
      [{ list: [[]] }, 'list.0', 'must be an object'],
    ];
    for (const [value, field, rule] of rows) assert.deepEqual(read(value), { field, rule });
  });

  it('loses a bad entry of a lossy list or map, and reports it', () => {
    const read = compileReader(
      Type.Object({ list: lossyList('things', Type.Object(inner)), map: mapOf(text(), { lossy: 'words' }) }),
    );
    const bad = { name: 7 };
    assert.deepEqual(read({ list: [{ name: 'a' }, bad, { name: 'b' }], map: { x: 'y', z: 1 } }), {
      value: {
        list: [
          { name: 'a', size: 1 },
          { name: 'b', size: 1 },
        ],
        map: { x: 'y' },
      },
      lost: [
        {
          list: 'things',
          index: 1,
          field: 'name',
          rule: 'must be a text of at most 5 characters',
          entry: bad,
        },
        { list: 'words', index: 1, name: 'z', field: '', rule: 'must be a text', entry: 1 },
      ],
    });
  });

  it('replaces an unreadable field where its schema defines a replacement', () => {
    const read = compileReader(
      Type.Object({ word: lossyField('word', oneOf('a', 'b'), 'a'), count: orElse(Type.Integer(), 0) }),
    );
    const given = read({ word: 'c' });
    assert.ok('value' in given);
    assert.deepEqual(given.value, { word: 'a', count: 0 });
    assert.deepEqual(
      given.lost.map(({ list, field, index }) => [list, field, index]),
      [['word', 'word', -1]],
    );
    assert.deepEqual(read({ count: 1 }), { field: 'word', rule: 'must be there' });
  });

  it('reads variants by their tag, and refuses another one', () => {
    const read = compileReader(variants('type', { a: Type.Object(inner), b: closed({}) }));
    assert.deepEqual(read({ type: 'a', name: 'x', more: 1 }), {
      value: { type: 'a', name: 'x', size: 1 },
      lost: [],
    });
    assert.deepEqual(read({ type: 'b', more: 1 }), { field: 'more', rule: 'is not known here' });
    for (const type of ['c', 'constructor', undefined])
      assert.deepEqual(read({ type }), { field: 'type', rule: 'must be one of a, b' });
  });

  it('holds texts, numbers, pairs, null and conditions of their own to their bounds', () => {
    const even = { rule: 'even', check: (value: unknown) => (value as number) % 2 === 0 };
    const rows: readonly (readonly [
      ReturnType<typeof compileReader>,
      readonly unknown[],
      readonly unknown[],
    ])[] = [
      [compileReader(text(3, '^[a-z]+$')), ['abc'], ['abcd', 'AB', 'ab\n', 7, null]],
      [
        compileReader(Type.Integer({ minimum: 0, maximum: 20, multipleOf: 10 })),
        [0, 20],
        [5, 30, -10, 0.5, '0'],
      ],
      [compileReader(Type.Number()), [0.5], [Number.NaN, Infinity, '1']],
      [compileReader(nullable(text())), [null, ''], [undefined, 0]],
      [compileReader(textPair()), [['a', 'b']], [['a'], ['a', 'b', 'c'], ['a', 1], 'ab']],
      [compileReader(refined(Type.Integer(), even)), [2], [1]],
      [
        compileReader(mapOf(text(1), { maxProperties: 1 })),
        [{}, { a: 'b' }],
        [{ a: 'bb' }, { a: '', b: '' }],
      ],
      [compileReader(anyObject()), [{}, { a: [1] }], [[], null, 'x']],
      [compileReader(Type.Boolean()), [true], [0, 'true']],
    ];
    for (const [read, good, bad] of rows) {
      for (const value of good) assert.deepEqual(read(value), { value, lost: [] });
      for (const value of bad) assert.ok('rule' in read(value), JSON.stringify(value));
    }
  });

  it('takes names of prototypes for names', () => {
    const value = JSON.parse('{"__proto__":{"name":"a"},"constructor":1}') as unknown;
    assert.deepEqual(compileReader(Type.Object(inner))(value), { field: 'name', rule: 'must be there' });
    const read = compileReader(mapOf(Type.Integer(), { lossy: 'numbers' }))(value);
    assert.ok('value' in read);
    assert.deepEqual(Object.keys(read.value as object), ['constructor']);
    assert.equal(Object.getPrototypeOf(read.value), Object.prototype);
  });
});
