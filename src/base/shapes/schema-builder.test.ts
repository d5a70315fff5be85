import assert from 'node:assert/strict';
import { test } from 'node:test';
import TypeBox from 'typebox';
import { Type } from './schema-builder.ts';

/** One of everything, by either builder. */
function sampleOf(builder: typeof Type): unknown {
  const text = builder.String({ maxLength: 300, description: 'A text' });
  const inner = builder.Object({ count: builder.Optional(builder.Integer({ minimum: 1 })) });
  return builder.Object(
    {
      text,
      again: builder.Optional(text),
      size: builder.Number(),
      isOn: builder.Optional(builder.Boolean({ default: false })),
      list: builder.Array(inner, { maxItems: 3 }),
      word: builder.Optional(builder.Unsafe<'a' | 'b'>({ type: 'string', enum: ['a', 'b'] })),
      anything: builder.Unknown({ readOnly: true }),
      none: builder.Object({}),
    },
    { additionalProperties: false },
  );
}

test('schemas are letter by letter those of TypeBox', () => {
  assert.equal(JSON.stringify(sampleOf(Type)), JSON.stringify(sampleOf(TypeBox)));
});

test('a copy of an optional schema is a required one, and the schema made optional stays as it was', () => {
  const text = Type.String();
  const optional = Type.Optional(text);
  const { required } = Type.Object({ text, optional, copy: { ...optional } });
  assert.deepEqual(required, ['text', 'copy']);
});
