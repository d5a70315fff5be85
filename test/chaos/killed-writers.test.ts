// A few rounds of what `frontdoor dev chaos` does for as long as one likes.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { postgresSkip, sharedPostgres } from '../support/postgres.ts';
import { killWriters } from './killed-writers.ts';
import { TEST_SEED } from '../support/test-seed.ts';

const ROUNDS = 2;

describe('a control plane that is killed while it is written to', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'frontdoor-chaos-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  async function run(test: TestContext, name: string, database?: string): Promise<void> {
    test.diagnostic(`FRONTDOOR_TEST_SEED=${TEST_SEED}`);
    const own = mkdtempSync(join(folder, `${name}-`));
    const options = { folder: own, rounds: ROUNDS, seed: TEST_SEED };
    const result = await killWriters(database === undefined ? options : { ...options, database });
    assert.deepEqual(result.problems, []);
    assert.ok(result.acknowledged > 30, `${result.acknowledged} acknowledged`);
  }

  it('keeps everything that it acknowledged, stores nothing in part and records each change once (embedded)', (test) =>
    run(test, 'embedded'));

  it(
    'keeps everything that it acknowledged, stores nothing in part and records each change once (PostgreSQL)',
    { skip: postgresSkip },
    async (test) => run(test, 'postgres', await (await sharedPostgres()).createDatabase()),
  );
});
