import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonReader, readJsonObject } from './json-reader.ts';
import * as Part from './schema-parts.ts';

test('a stored text is read by its schema, and a damaged one is refused without its content', () => {
  const read = jsonReader(Part.mapOf(Part.text()));
  assert.deepEqual(read('{"a":"1"}'), { a: '1' });
  assert.throws(() => read('{"a":5}'), { message: 'a stored value is damaged: a must be a text' });
  assert.throws(() => read('[]'), { message: 'a stored value is damaged: it must be an object' });
  assert.throws(() => read('{"a":"secret'), { message: 'a stored value is damaged: it is not JSON' });
});

test('an object is read whole, and nothing else is', () => {
  assert.deepEqual(readJsonObject('{"a":{"b":null}}'), { a: { b: null } });
  for (const text of ['[]', 'null', '"a"', '{', ''])
    assert.throws(() => readJsonObject(text), /^TypeError: a stored value is damaged: it /);
});
