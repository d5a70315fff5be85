import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StatementNames } from './statement-names.ts';

describe('names of statements', () => {
  it('are given to what comes again, always the same, and fit the server', () => {
    const names = new StatementNames();
    assert.deepEqual([names.nameOf('select 1'), names.nameOf('select 1')], [undefined, undefined]);
    const name = names.nameOf('select 1')!;
    assert.match(name, /^f[\w-]{24}$/);
    assert.equal(names.nameOf('select 1'), name);
    for (let i = 0; i < 2; i += 1) names.nameOf('select 2');
    assert.notEqual(names.nameOf('select 2'), name);
    assert.equal(new StatementNames().nameOf('select 1'), undefined);
  });

  it('are bounded, however many statements come, and what had one keeps it', () => {
    const names = new StatementNames();
    const given = new Set<string>();
    for (let i = 0; i < 5_000; i += 1) {
      for (let sighting = 0; sighting < 3; sighting += 1) {
        const name = names.nameOf(`select ${i}`);
        if (name !== undefined) given.add(name);
      }
    }
    assert.equal(given.size, 300);
    assert.ok(given.has(names.nameOf('select 0')!));
    assert.equal(names.nameOf('select 4999'), undefined);
  });
});
