import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCli } from '../cli-fixture.ts';

test('version shows the version, the commit with its day, and the runtime', async () => {
  const facts = { commit: 'a'.repeat(40), date: '2026-11-28', programs: 'package' } as const;
  const run = (...more: string[]) =>
    runCli(['version', ...more], {}, {}, { buildFacts: () => Promise.resolve(facts) });
  const { out } = await run();
  assert.match(
    out,
    /^version +1\.2\.3\ncommit +a{40}\ndate +2026-11-28\nruntime +Node \d+\.\d+\.\d+ \(.*\)\nprograms +package\n$/,
  );
  assert.equal((JSON.parse((await run('--json')).out) as { commit: string }).commit, facts.commit);
});
