import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pageOf, type ListParameters } from './entity-list.ts';
import type { QuerySymbols } from './query-symbol.ts';

interface Thing {
  readonly name: string | null;
}

const SYMBOLS: QuerySymbols<Thing> = { name: { type: 'text', read: ({ name }) => name } };
const THINGS: readonly Thing[] = Array.from({ length: 600 }, (_none, index) => ({
  name: `thing ${String(index).padStart(3, '0')}`,
}));

function asked(parameters: Partial<ListParameters>, things = THINGS): ReturnType<typeof pageOf<Thing>> {
  return pageOf(things, { filter: null, sort: null, limit: null, offset: null, ...parameters }, SYMBOLS);
}

function pageFor(parameters: Partial<ListParameters>): readonly unknown[] {
  const answer = asked(parameters);
  assert.ok('page' in answer);
  const { found, limit, offset, totalCount } = answer.page;
  return [found.length, limit, offset, totalCount];
}

describe('a page of a list', () => {
  it('has ten entities by default, and five hundred at most', () => {
    assert.deepEqual(pageFor({}), [10, 10, 0, 600]);
    assert.deepEqual(pageFor({ limit: '0' }), [10, 10, 0, 600]);
    for (const limit of ['501', '1000000', '-1'])
      assert.deepEqual(pageFor({ limit }), [500, 500, 0, 600], limit);
    assert.deepEqual(pageFor({ filter: 'limit none' }), [500, 500, 0, 600]);
    assert.deepEqual(pageFor({ limit: '25', offset: '595' }), [5, 25, 595, 600]);
    assert.deepEqual(pageFor({ offset: '-1' }), [10, 10, 0, 600]);
    assert.deepEqual(pageFor({ offset: '9000' }), [0, 10, 9000, 600]);
  });

  it('takes the clauses of the filter before the parameters', () => {
    const filter = 'name < "thing 100" sort by name desc skip 98 limit 3';
    const answer = asked({ filter, sort: 'name', limit: '50', offset: '1' });
    assert.ok('page' in answer);
    assert.deepEqual(
      answer.page.found.map(({ name }) => name),
      ['thing 001', 'thing 000'],
    );
    assert.deepEqual([answer.page.limit, answer.page.offset, answer.page.totalCount], [3, 98, 100]);
  });

  it('sorts by the parameter too, missing values first', () => {
    const things = [{ name: 'b' }, { name: null }, { name: 'a' }];
    const names = (sort: string): unknown[] => {
      const answer = asked({ sort }, things);
      assert.ok('page' in answer);
      return answer.page.found.map(({ name }) => name);
    };
    assert.deepEqual(names('name'), [null, 'a', 'b']);
    assert.deepEqual(names('name desc'), ['b', 'a', null]);
  });

  it('is refused with the parameter that cannot be read', () => {
    const problem = (parameters: Partial<ListParameters>): unknown => {
      const answer = asked(parameters);
      return 'problem' in answer ? answer.problem.parameter : undefined;
    };
    assert.equal(problem({ limit: 'x' }), 'limit');
    assert.equal(problem({ offset: '1e3' }), 'offset');
    assert.equal(problem({ filter: 'name =' }), 'filter');
    assert.equal(problem({ sort: 'nonsense' }), 'sort');
    assert.equal(problem({ sort: 'name limit 3' }), 'sort');
  });
});
