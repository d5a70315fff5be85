// What a query may hold: the names of the operation's parameters, each once, with values of their form.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paging, type QueryParameter } from './operation.ts';
import { queryProblem, type QueryValues } from './query-policy.ts';

const parameters: readonly QueryParameter[] = [
  ...paging('name', 'createdAt'),
  { name: 'organizationId', type: 'UUID', isRequired: false, summary: '' },
  { name: 'duration', type: 'duration', isRequired: false, summary: '' },
  { name: 'from', type: 'date-time', isRequired: false, summary: '' },
  { name: 'status', type: 'string', isRequired: false, summary: '', values: ['ACTIVE', 'INACTIVE'] },
  {
    name: 'color',
    type: 'string',
    isRequired: false,
    summary: '',
    pattern: '^[a-z]+$',
    rule: 'color in a-z',
  },
  { name: 'tokens', type: 'list', isRequired: false, summary: '', maximum: 3 },
  { name: 'email', type: 'string', isRequired: false, summary: '' },
];
const said = (query: QueryValues, of = parameters): string | undefined => {
  const problem = queryProblem(of, query);
  return problem && `${problem.property}: ${problem.type}`;
};

test('an unknown name is refused with the nearest known ones, or with none where there are none', () => {
  assert.match(said({ organisationId: 'x' })!, /^organisationId: organizationId, /);
  assert.match(said({ Page: '1' })!, /^Page: page, /);
  assert.match(said({ toString: '1' })!, /^toString: /);
  assert.match(said({ '': 'x' })!, /^query: /);
  assert.match(said({ ['x'.repeat(9_000)]: '1' })!, /^x{64}…: /);
  assert.equal(said({ page: '1' }, []), 'page: no query parameter, as this operation takes none');
});

test('a name that stands twice is refused, whatever its values', () => {
  assert.equal(said({ page: ['1', '1'] }), 'page: one value, not several');
  assert.equal(said({ email: [] }), 'email: one value, not several');
});

test('a value of another form is refused by the rule that it breaks', () => {
  const text = 'string of 1 to 255 characters without NUL';
  const refused: readonly (readonly [name: string, type: string, values: readonly string[]])[] = [
    ['page', 'integer from 0', ['-1', '1.0', '1e3', '', ' 1', '٣', 'x']],
    ['page', 'integer from 0 to 1000000000', ['1000000001', '9'.repeat(400)]],
    ['size', 'integer from 1', ['0', '00', '-0', '+1', '0x10', '']],
    ['sort', 'name or createdAt', ['', 'id', 'nam', 'toString', 'name desc', ',asc']],
    ['sort', 'asc or desc', ['name,', 'name,up', 'name,asc,id']],
    ['organizationId', 'UUID', ['x', '']],
    ['duration', 'duration', ['1h', '', 'P1Y']],
    ['from', 'date-time', ['2026-11-22', 'yesterday', '2026-02-30T00:00:00Z', '']],
    ['status', 'ACTIVE or INACTIVE', ['active', '', 'toString']],
    ['color', 'color in a-z', ['RED', '', 'red ']],
    [
      'tokens',
      'list of 1 to 3 texts with commas between them',
      ['', ',', 'a,', 'a,b,c,d', 'a\0', `a,${'x'.repeat(256)}`],
    ],
    ['email', text, ['', 'x'.repeat(256), 'a\0b']],
  ];
  for (const [name, type, values] of refused) {
    for (const value of values) assert.equal(said({ [name]: value }), `${name}: ${type}`, value.slice(0, 40));
  }
  assert.equal(said({}, [{ ...parameters[3]!, isRequired: true }]), 'organizationId: UUID');
});

test('values of the right form pass', () => {
  const passed: readonly QueryValues[] = [
    {},
    { page: '0', size: '9'.repeat(4_000), sort: 'createdAt,desc' },
    { page: '1000000000', size: '007', sort: 'name' },
    { organizationId: '5B0C2A3E-6F0F-4A5E-9D53-0F2F6D1C7A10', duration: 'PT1H', status: 'ACTIVE' },
    { tokens: 'a,b,c' },
    { from: '2026-11-22T10:00:00.5+02:00', color: 'red', email: 'bob@example.com' },
  ];
  for (const query of passed) assert.equal(said(query), undefined, JSON.stringify(query).slice(0, 60));
});
