import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ManagementClient } from '../management-client.ts';
import { hostnamesVerdict } from './hostname-check.ts';

const RECORD = { type: 'TXT', name: '_frontdoor-challenge.b.example', value: 'frontdoor-organization=o' };

/** Answers as the Management API does. */
function clientOf(domains: readonly object[], check: () => unknown): Pick<ManagementClient, 'call'> {
  return {
    call: async ({ path }) =>
      path.endsWith('/dns-check') ? check() : { content: domains, totalElements: 1 },
  };
}

const verdictOf = (domains: readonly object[], check: () => unknown = () => []) =>
  hostnamesVerdict(clientOf(domains, check) as ManagementClient, 'f');
const domain = (hostname: string, proof: string, proofEndsAt: string | null = null) => ({
  id: hostname,
  hostname,
  proof,
  proofEndsAt,
  proofProblem: null,
});

test('proven and granted hostnames are well, and none are nothing to check', async () => {
  assert.equal((await verdictOf([])).state, 'skipped');
  assert.equal((await verdictOf([{ id: 'old', hostname: 'of.an.older.version' }])).state, 'skipped');
  const verdict = await verdictOf([domain('a.example', 'PROVEN'), domain('b.example', 'GRANTED')]);
  assert.deepEqual([verdict.state, verdict.message], ['ok', '2 proven']);
});

test('others are named with what DNS says and the record to create', async () => {
  const records = [
    { type: 'CNAME', name: '*.b.example', state: 'correct', problem: null },
    { ...RECORD, state: 'missing', problem: null },
  ];
  const domains = [domain('a.example', 'PROVEN'), domain('b.example', 'PENDING', '2030-01-15T00:00:00.000Z')];
  const verdict = await verdictOf(domains, () => records);
  assert.equal(verdict.state, 'warning');
  assert.match(verdict.message, /not proven: b\.example \(PENDING until 2030-01-15\), DNS: missing/);
  assert.match(
    String((verdict as { remedy?: string }).remedy),
    /_frontdoor-challenge\.b\.example with the value/,
  );
  const lost = await verdictOf([domain('b.example', 'MISSING', '2030-01-15T00:00:00.000Z')], () => {
    throw new Error('429');
  });
  assert.equal(lost.state, 'failure');
});
