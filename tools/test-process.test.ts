import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { runTestProcess, type TestFileResult, type TestProcessOptions } from './test-process.ts';

const HEAD = `import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, test } from 'node:test';
`;

/** Runs files of these texts in one process: `shared` as files that share it. */
async function run(
  t: TestContext,
  texts: Readonly<Record<string, string>>,
  options: Partial<TestProcessOptions> = {},
): Promise<Record<string, TestFileResult>> {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-test-process-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const files = Object.entries(texts).map(([name, text]) => {
    const path = join(folder, `${name}.test.mjs`);
    writeFileSync(path, HEAD + text);
    return path;
  });
  const results = await runTestProcess(files, {
    isShared: files.length > 1,
    silenceMs: 60_000,
    nodeArgs: [],
    environment: {},
    printsTests: false,
    signal: t.signal,
    ...options,
  });
  return Object.fromEntries(results.map((result) => [basename(result.file, '.test.mjs'), result]));
}

const namesOf = (result: TestFileResult | undefined): string[] => result!.failures.map(({ name }) => name);

const DOOR = `describe('a door', () => {
  it('stays shut', () => assert.equal('open', 'shut', 'the door was open'));
  it('has a handle', () => {});
  it('has a bell', { skip: 'not yet' }, () => {});
});
it('waits', { timeout: 1 }, () => new Promise((resolve) => setTimeout(resolve, 100)));`;

for (const isShared of [false, true]) {
  test(`tests are counted and failures named ${isShared ? 'in a shared process' : 'in a process of the file'}`, async (t) => {
    const { door } = await run(t, { door: DOOR }, { isShared });
    assert.equal(door!.passed, false);
    assert.equal(door!.problem, undefined);
    assert.equal(door!.tests, 4);
    assert.deepEqual(namesOf(door), ['a door › stays shut', 'waits']);
    assert.match(
      door!.failures[0]!.error,
      /^AssertionError.*: the door was open\n[\s\S]*at .*door\.test\.mjs:4/,
    );
    assert.equal(door!.failures[1]!.error, `'test timed out after 1ms'`);
    assert.deepEqual(door!.skipped, ['a door › has a bell: not yet']);
  });
}

test('what another failure has ended is marked as cancelled', async (t) => {
  const { house } = await run(t, {
    house: `describe('a house', () => {
      before(() => { throw new Error('no ground to build on'); });
      it('has a roof', () => {});
    });`,
  });
  const marks = new Map(house!.failures.map(({ name, isCancelled }) => [name, isCancelled]));
  assert.deepEqual(Object.fromEntries(marks), { 'a house › has a roof': true, 'a house': false });
});

test('a file that cannot be loaded fails, and those that share its process continue', async (t) => {
  const broken = `throw new Error('not even begun');`;
  const { broken: alone } = await run(t, { broken });
  assert.equal(alone!.problem, 'its process ended with status 1');
  assert.match(alone!.output, /not even begun/);
  const both = await run(t, { broken, whole: `test('one', () => {});` });
  assert.deepEqual(namesOf(both['broken']), ['the file']);
  assert.match(both['broken']!.failures[0]!.error, /not even begun/);
  assert.ok(both['whole']!.passed);
});

test('a file without a test fails', async (t) => {
  assert.equal((await run(t, { empty: '' }))['empty']!.problem, 'holds no test');
  const both = await run(t, { empty: '', whole: `test('one', () => {});` });
  assert.equal(both['empty']!.problem, 'holds no test');
  assert.ok(both['whole']!.passed);
});

test('an error that no test has caught fails the file that ran, once', async (t) => {
  const late = `test('one', async () => {
    setImmediate(() => setImmediate(() => { throw new Error('nobody caught it'); }));
  });
  test('two', () => new Promise((resolve) => setTimeout(resolve, 50)));`;
  for (const result of [
    (await run(t, { late }))['late'],
    (await run(t, { first: `test('one', () => {});`, late }))['late'],
  ]) {
    assert.equal(result!.failures.length, 1);
    assert.match(result!.failures[0]!.error, /nobody caught it/);
  }
});

test('files of one process run one after the other, each with its own hooks', async (t) => {
  const log = `globalThis[Symbol.for('frontdoor-log')] ??= [];
const log = globalThis[Symbol.for('frontdoor-log')];`;
  const { second, first } = await run(t, {
    first: `${log}
beforeEach(() => { log.push('first'); });
after(() => { log.push('end of the first'); });
test('one', async () => { await new Promise(setImmediate); log.push('one'); });`,
    second: `${log}
log.push('second');
test('two', () => assert.deepEqual(log, ['first', 'one', 'end of the first', 'second']));`,
  });
  assert.ok(first!.passed);
  assert.deepEqual(second!.failures, []);
});

const TRACES: Readonly<Record<string, readonly [text: string, complaint: RegExp]>> = {
  environment: [`process.env.FRONTDOOR_LEFT = '1';`, /has changed the environment/],
  global: [`globalThis.setTimeout = function another() {};`, /has put another setTimeout in place/],
  clock: [`Date.now = () => 0;`, /has put another Date\.now in place/],
  listener: [`process.on('SIGUSR2', () => {});`, /has left listeners of the process/],
};

for (const [what, [text, complaint]] of Object.entries(TRACES)) {
  test(`a file of a shared process that leaves another ${what} fails`, async (t) => {
    const { left, next } = await run(t, {
      left: `test('one', () => { ${text} });`,
      next: `test('two', () => {});`,
    });
    assert.match(left!.failures[0]!.error, complaint);
    assert.ok(next!.passed);
  });
}

test('a file that hangs is named with its test; those before it have passed, those after it have not run', async (t) => {
  const results = await run(
    t,
    {
      first: `test('one', () => {});`,
      hung: `describe('a wait', () => { it('never ends', () => new Promise(() => setInterval(() => {}, 100))); });`,
      last: `test('two', () => {});`,
    },
    { silenceMs: 2_000 },
  );
  assert.deepEqual(Object.keys(results), ['first', 'hung']);
  assert.ok(results['first']!.passed);
  assert.equal(results['hung']!.problem, 'hangs in "a wait › never ends": nothing was reported for 2 s');
});

test('the output of a file that hangs ends with where it is, and with what it waits for', async (t) => {
  const spinning = `function spin() { for (;;); }\ntest('spins', () => spin());`;
  const waiting = `test('waits', () => new Promise(() => setInterval(() => {}, 100)));`;
  const [{ spinning: busy }, { waiting: idle }] = await Promise.all([
    run(t, { spinning }, { silenceMs: 2_000 }),
    run(t, { waiting }, { silenceMs: 2_000 }),
  ]);
  assert.match(busy!.output, /it is here:\n[^]*at spin \([^]*spinning\.test\.mjs:\d+\)/);
  assert.match(idle!.output, /it waits for: .*Timeout/);
});
