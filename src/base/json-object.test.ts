import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject } from './json-object.ts';

test('an object of JSON is neither null, a list, nor a plain value', () => {
  for (const text of ['{}', '{"length":0}']) assert.ok(isJsonObject(JSON.parse(text)), text);
  for (const text of ['null', '[]', '"{}"', '0', 'true']) assert.ok(!isJsonObject(JSON.parse(text)), text);
  assert.ok(!isJsonObject(undefined));
});
