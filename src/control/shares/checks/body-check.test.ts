import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { operations, stringFormats, type Operation } from '#contract';
import { bodyCheckOf } from './body-check.ts';

suite('the check of a body', () => {
  test('compiles its own schema with the first body, and no meta-schema', () => {
    const realFunction = globalThis.Function;
    let compiled = 0;
    const check = bodyCheckOf({ type: 'object', properties: { name: { type: 'string' } } });
    globalThis.Function = new Proxy(realFunction, {
      construct(target, args) {
        compiled += 1;
        return Reflect.construct(target, args) as object;
      },
    });
    try {
      check({ name: 'a' });
      check({ name: 'b' });
    } finally {
      globalThis.Function = realFunction;
    }
    assert.equal(compiled, 1);
    assert.throws(() => check({ name: 1 }));
  });

  test('has a valid schema in every operation, because it does not validate them', () => {
    const ajv = new Ajv2020();
    for (const [name, { check }] of Object.entries(stringFormats))
      ajv.addFormat(name, { type: 'string', validate: check });
    for (const { id, body } of operations as readonly (Operation & { readonly id: string })[]) {
      if (body === undefined || body === 'own') continue;
      assert.equal(ajv.validateSchema(body), true, `${id}: ${ajv.errorsText()}`);
    }
  });
});
