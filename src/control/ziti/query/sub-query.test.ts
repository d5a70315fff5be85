import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pageOf } from './entity-list.ts';
import { MAX_QUERY_RELATED } from './query-budget.ts';
import { MAX_QUERY_DEPTH, parseQuery } from './query-parser.ts';
import { entitySet, type QuerySymbols } from './query-symbol.ts';

interface Team {
  readonly name: string;
  readonly members: readonly Person[];
}

interface Person {
  readonly name: string;
  readonly age: number;
}

let reads = 0;

const people: QuerySymbols<Person> = {
  name: { type: 'text', read: ({ name }) => name },
  age: {
    type: 'number',
    read({ age }) {
      reads += 1;
      return age;
    },
  },
  teams: entitySet<Person, Team>({
    read: (person) => ALL.filter(({ members }) => members.includes(person)),
    idOf: ({ name }) => name,
    cost: () => ALL.length,
    symbols: () => teams,
  }),
};

const teams: QuerySymbols<Team> = {
  name: { type: 'text', read: ({ name }) => name },
  members: entitySet<Team, Person>({
    read: ({ members }) => members,
    idOf: ({ name }) => name,
    cost: () => 0,
    symbols: () => people,
  }),
};

const [ADA, BOB, EVE] = ['Ada', 'Bob', 'Eve'].map((name, index) => ({ name, age: 30 + index })) as [
  Person,
  Person,
  Person,
];
const ALL: readonly Team[] = [
  { name: 'red', members: [ADA, BOB] },
  { name: 'blue', members: [BOB, EVE] },
  { name: 'none', members: [] },
];

const parameters = { sort: null, limit: null, offset: null };

function found(filter: string): readonly string[] | string {
  const answer = pageOf(ALL, { ...parameters, filter }, teams);
  return 'problem' in answer ? answer.problem.reason : answer.page.found.map(({ name }) => name);
}

describe('a sub-query', () => {
  it('selects related entities by their own fields', () => {
    assert.deepEqual(found('not isEmpty(from members where name = "Bob")'), ['red', 'blue']);
    assert.deepEqual(found('isEmpty(from members where age > 31)'), ['red', 'none']);
    assert.deepEqual(found('count(from members where age >= 31) = 2 and name = "blue"'), ['blue']);
    assert.deepEqual(found('ISEMPTY ( FROM members WHERE true )'), ['none']);
    assert.deepEqual(found('count(from members where true skip 1 limit 5) = 1'), ['red', 'blue']);
    assert.deepEqual(found('count(from members where true limit 1) = 1'), ['red', 'blue']);
  });

  it('nests, and a set of entities is one of ids, too', () => {
    const query = 'not isEmpty(from members where not isEmpty(from teams where name = "blue"))';
    assert.deepEqual(found(query), ['red', 'blue']);
    assert.deepEqual(found('anyOf(members) = "Eve" or isEmpty(members)'), ['blue', 'none']);
    assert.deepEqual(found('count(members) = 2'), ['red', 'blue']);
  });

  it('examines each entity once, and has limits over all of its levels', () => {
    reads = 0;
    found('not isEmpty(from members where age > 0)');
    assert.equal(reads, 3);
    let deep = 'true';
    for (let level = 0; level <= MAX_QUERY_DEPTH; level += 1)
      deep = `isEmpty(from ${level % 2 === MAX_QUERY_DEPTH % 2 ? 'members' : 'teams'} where ${deep})`;
    assert.match(String(found(deep)), /nested deeper than 64/);
    const dear: QuerySymbols<Team> = {
      members: entitySet<Team, Person>({
        read: ({ members }) => members,
        idOf: ({ name }) => name,
        cost: () => MAX_QUERY_RELATED / 2,
        symbols: () => people,
      }),
    };
    const { matches } = parseQuery<Team>('isEmpty(from members where true)', dear);
    assert.equal(matches(ALL[0]!), false);
    assert.throws(() => matches(ALL[0]!), /looks through more than/);
    const answer = pageOf(ALL, { ...parameters, filter: 'isEmpty(members)' }, dear);
    assert.ok('problem' in answer && answer.problem.parameter === 'filter');
  });

  it('is refused where it cannot be', () => {
    for (const query of [
      'isEmpty(from name where true)',
      'isEmpty(from members where nonsense = 1)',
      'isEmpty(from members)',
      'isEmpty(from members where true',
      'anyOf(from members where true) = "x"',
      'count(from members where true)',
      'members = "x"',
    ])
      assert.equal(typeof found(query), 'string', query);
  });
});
