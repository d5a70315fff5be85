import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { examplesOf } from './credential-examples.ts';

const SHOWN = { id: 'ID', secret: 'SECRET' };
const BASE = 'https://control.example/api';

describe('the lines that use a new credential', () => {
  for (const path of ['accounts', 'clients'] as const) {
    it(`of ${path} have the address, the ID and the secret in each form`, () => {
      const examples = examplesOf(path, SHOWN, BASE);
      assert.deepEqual(
        examples.map(({ name }) => name),
        ['curl', 'commandLine', 'javaScript'],
      );
      for (const { code } of examples) {
        for (const part of [BASE, SHOWN.id, SHOWN.secret]) assert.ok(code.includes(part), code);
      }
    });
  }

  it('of clients name the audience that tokens are issued for', () => {
    for (const { name, code } of examplesOf('clients', SHOWN, BASE)) {
      if (name !== 'commandLine') assert.ok(code.includes(`${BASE}/frontdoor"`), code);
    }
  });
});
