// How answers look: on wide and narrow terminals, in pipes, with names that others chose.
import { printable } from '#base/terminal';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explanationText } from './explanation-text.ts';
import { metricsText, sparklinesText } from './metric-text.ts';
import { recordText } from './record-text.ts';
import { sparkline } from './sparkline.ts';
import { TableText } from './table-text.ts';

const entries = [
  {
    id: 'c83a',
    name: 'first service',
    createdAt: '2026-01-01',
    grants: ['a', 'b'],
    actor: { kind: 'account', id: 'x' },
  },
  { id: 'f00d', name: null, createdAt: '2026-01-02', grants: [], actor: { kind: 'system', id: null } },
];
const columns = ['id', 'name', 'createdAt', 'grants', 'actor'];
const table = (terminalColumns: number | undefined, isBold = false): Promise<string> =>
  new TableText({ columns, terminalColumns, isBold }).portion(entries);

test('a table has a heading and columns as wide as their cells, and no line ends in spaces', async () => {
  assert.equal(
    await table(undefined),
    `ID    NAME           CREATED AT  GRANTS  ACTOR
c83a  first service  2026-01-01  a, b    account x
f00d  -              2026-01-02  -       system
`,
  );
});

test('on a narrow terminal cells are wrapped between words, never cut', async () => {
  const text = await table(44);
  for (const line of text.split('\n')) assert.ok(line.length <= 44, line);
  for (const word of ['c83a', 'first', 'service', '2026-01-01', 'account'])
    assert.ok(text.includes(word), text);
});

test('where no table fits each entry is a block of names and values', async () => {
  assert.ok(
    (await table(20)).startsWith(`id          c83a
name        first service
createdAt   2026-01-01
grants      a
            b
actor.kind  account
actor.id    x

id          f00d
`),
  );
});

test('the heading is bold only where someone sees it, and comes once', async () => {
  const bold = new TableText({ columns: ['id'], terminalColumns: 80, isBold: true });
  assert.equal(await bold.portion(entries), '\u001B[1mID\u001B[22m\nc83a\nf00d\n');
  assert.equal(await bold.portion(entries), 'c83a\nf00d\n');
});

test('wide characters keep the columns straight', async () => {
  const wide = new TableText({ columns: ['name', 'id'], terminalColumns: undefined, isBold: false });
  assert.equal(
    await wide.portion([
      { name: '日本', id: 1 },
      { name: 'abcd', id: 2 },
    ]),
    'NAME  ID\n日本  1\nabcd  2\n',
  );
});

/** Control characters, but for the ends of lines. */
const UNSAFE = /(?!\n)\p{Cc}/u;

test('names cannot steer the terminal', async () => {
  assert.equal(
    printable('a\u001B[31m\u009Bb\r\n\u2028\u202Ec\u2069é日'),
    'a\uFFFD[31m\uFFFDb\uFFFD\uFFFD\uFFFD\uFFFDc\uFFFDé日',
  );
  const hostile = new TableText({ columns: ['name'], terminalColumns: 80, isBold: false });
  assert.doesNotMatch(await hostile.portion([{ name: '\u001B[2J\u0007\rnext line' }]), UNSAFE);
  assert.doesNotMatch(recordText({ name: '\u001B[2J', deep: { x: ['\u0007'] } }), UNSAFE);
});

test('an object is printed by name and value, nested objects with dots, lists by lines', () => {
  assert.equal(
    recordText({
      id: 'a',
      failure: { count: 2, lastError: 'refused' },
      grants: ['x', 'y'],
      none: [],
      absent: undefined,
    }),
    `id                 a
failure.count      2
failure.lastError  refused
grants             x
                   y
none               -
absent             -
`,
  );
});

test('bars grow with the numbers, and nothing looks like zero but zero', () => {
  assert.equal(sparkline([0, 1, 500, 1_000]), '▁▂▅█');
  assert.equal(sparkline([0, 0]), '▁▁');
  assert.equal(sparkline([]), '');
});

test('metrics show totals and the course of the window, in at most sixty bars', () => {
  const latencyMs = { p50: 1, p95: 2, p99: 3 };
  const classes = { status2xx: 2, status3xx: 0, status4xx: 0, status5xx: 0 };
  const sample = { requests: 2, errors: 0, ...classes, bytesIn: 0, bytesOut: 0, latencyMs };
  const samples = Array.from({ length: 120 }, (_, index) => ({ ...sample, timestamp: String(index) }));
  const window = { frontdoorId: 'f', duration: 'PT2H', step: 'PT1M', start: 's', end: 'e' };
  const text = metricsText({ ...window, totals: { ...sample, requests: 240 }, samples });
  assert.match(text, /^requests +240$/m);
  assert.match(text, /^requests {2}█{60} {2}at most 4$/m);
  assert.match(text, /^errors {4}▁{60} {2}at most 0$/m);
  const lines = sparklinesText({
    ...window,
    sparklines: [
      { scope: 'frontdoor', id: 'f', name: 'edge', requests: [0, 4], errors: [0, 0] },
      { scope: 'environment', id: 'e', name: 'host\u0007', requests: [0, 4], errors: [1, 0] },
    ],
  });
  assert.match(lines, /^frontdoor edge {5}▁█ 4 requests$/m);
  assert.match(lines, /^environment host\uFFFD {2}▁█ 4 requests {2}█▁ 1 errors$/m);
});

test('an explanation prints the decision first, then each step; names of others are escaped', () => {
  const steps = [
    { rule: 'time', outcome: 'skipped', detail: 'no end' },
    { rule: 'address', outcome: 'passed', detail: '192.0.2.7 may come' },
    { rule: 'identity', outcome: 'decided', detail: 'no provider here has a key \u001b[31m' },
  ] as const;
  assert.equal(
    explanationText({
      decision: 'unauthenticated',
      status: 401,
      reason: 'credential-wrong',
      steps: [...steps],
    }),
    `refused: not authenticated (401, credential-wrong)
  -   time      no end
  ok  address   192.0.2.7 may come
  =>  identity  no provider here has a key \uFFFD[31m
`,
  );
  const allowed = explanationText({ decision: 'allow', status: null, reason: 'open', steps: [] });
  assert.match(allowed, /^admitted \(the service answers, open\)/);
});
