// A refusal names the rule that a value breaks; only a wrong JSON type is named by the type.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TSchema } from 'typebox';
import { operations } from './operation-table.ts';
import type { Operation } from './operation.ts';
import { ruleWords, typeWord } from './value-rule.ts';

type Keywords = Readonly<Record<string, unknown>>;

const BARE = /^(?:string|integer|number|boolean|array|object)$/;

test('bounds are named in words', () => {
  const said: readonly (readonly [schema: Keywords, value: unknown, rule: string])[] = [
    [{ type: 'integer', minimum: 0 }, -1, 'integer from 0'],
    [{ type: 'integer', minimum: 1, maximum: 9 }, 10, 'integer from 1 to 9'],
    [{ type: 'number', maximum: 9 }, 10, 'number up to 9'],
    [{ type: 'string', minLength: 8, maxLength: 1_024 }, 'x', 'string of 8 to 1024 characters'],
    [{ type: 'string', maxLength: 1 }, 'xx', 'string of at most 1 character'],
    [{ type: ['string', 'null'], minLength: 1 }, '', 'string of at least 1 character'],
    [{ type: 'array', minItems: 1, maxItems: 20 }, [], 'array of 1 to 20 items'],
    [
      { type: 'array', maxItems: 3, uniqueItems: true },
      [1, 1],
      'array of at most 3 items, each of them once',
    ],
    [{ type: 'object', minProperties: 1 }, {}, 'object of at least 1 property'],
    [{ type: 'string', title: 'path that begins with /', pattern: '^/' }, 'x', 'path that begins with /'],
    [{ not: {}, title: 'nothing, because there is one' }, 'x', 'nothing, because there is one'],
    [{ type: 'string', format: 'name' }, '', 'name (1 to 255 characters, no control characters)'],
    [
      { type: ['string', 'null'], format: 'share-name' },
      'A',
      'share name (1 to 63 of a-z, 0-9 and -, no - at either end)',
    ],
  ];
  for (const [schema, value, rule] of said) assert.equal(ruleWords(schema, value), rule);
});

test('a missing value, or one of another JSON type, is named by its type or format', () => {
  assert.equal(typeWord({ type: 'string', format: 'uuid' }, true), 'UUID');
  assert.equal(typeWord({ type: 'string', format: 'uuid' }, false), 'string');
  assert.equal(typeWord({ type: 'string', format: 'name' }, true), 'string');
  assert.equal(typeWord({ type: ['object', 'null'] }, false), 'object');
});

/** Every schema in one, with where it stands. */
function* schemasIn(schema: Keywords, path: string): Generator<readonly [string, Keywords]> {
  yield [path, schema];
  for (const [name, field] of Object.entries((schema['properties'] ?? {}) as Record<string, Keywords>))
    yield* schemasIn(field, `${path}.${name}`);
  if (schema['items'] !== undefined) yield* schemasIn(schema['items'] as Keywords, `${path}[]`);
}

const CONSTRAINTS = [
  'pattern',
  'format',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
];

test('no body has a constraint whose refusal would name the bare type', () => {
  const bodies = (operations as readonly Operation[]).flatMap(({ id, body, forms }) =>
    [body, ...Object.values(forms ?? {})]
      .filter((schema): schema is TSchema => schema !== undefined && schema !== 'own')
      .map((schema) => [id, schema as Keywords] as const),
  );
  const bare: string[] = [];
  for (const [id, body] of bodies) {
    for (const [path, schema] of schemasIn(body, id)) {
      if (CONSTRAINTS.some((keyword) => keyword in schema) && BARE.test(ruleWords(schema, '\u0000')))
        bare.push(path);
    }
  }
  assert.deepEqual(bare, [], 'give them a format of format-table.ts, bounds, or a title with the rule');
});
