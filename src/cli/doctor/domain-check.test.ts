import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrontdoorError } from '#base';
import type { ManagementClient } from '../management-client.ts';
import { domainsVerdict } from './domain-check.ts';

const NONE = { state: 'NONE', validUntil: null, problem: null, retryAt: null };
const domain = (hostname: string, more: object = {}) => ({
  hostname,
  shareToken: 'app',
  proof: 'PROVEN',
  proofEndsAt: null,
  proofProblem: null,
  certificate: NONE,
  ...more,
});
const txt = (state: string) => ({
  type: 'TXT',
  name: '_c.a.example',
  value: 'v',
  state,
  found: [],
  problem: null,
});
const alias = (state: string, found: readonly string[] = [], problem: string | null = null) => ({
  type: 'CNAME',
  name: 'a.example',
  value: 'share.example',
  state,
  found,
  problem,
});

/** Answers as the Management API does. */
const verdictOf = (domains: readonly object[], check: () => unknown = () => [alias('correct')]) => {
  const call = async ({ path }: { path: string }) =>
    path.endsWith('/dns-check') ? check() : { content: domains, totalElements: domains.length };
  return domainsVerdict({ call } as unknown as ManagementClient, 'f');
};

test('domains that are proven and resolve to a gateway are well, also before their first visit', async () => {
  assert.equal((await verdictOf([])).state, 'skipped');
  const verdict = await verdictOf([domain('a.example'), domain('b.example', { proof: 'GRANTED' })]);
  assert.deepEqual([verdict.state, verdict.message], ['ok', '2 well']);
  const older = { call: () => Promise.reject(new FrontdoorError('notFound', 'not-found', 'no route')) };
  assert.equal((await domainsVerdict(older as unknown as ManagementClient, 'f')).state, 'skipped');
});

test('each problem of a domain has its sentence and its remedy', async () => {
  const failed = { problem: 'DNS problem: NXDOMAIN', retryAt: '2030-01-01T00:00:00.000Z' };
  const rows = [
    [
      { proof: 'PENDING' },
      [txt('missing')],
      'warning',
      /a\.example is not proven \(PENDING; TXT record: missing\)/,
      /record _c\.a\.example with the value v/,
    ],
    [{ proof: 'MISSING' }, [], 'failure', /TXT record: not looked up yet/, /domains check app a\.example/],
    [
      {},
      [alias('missing')],
      'failure',
      /^a\.example does not resolve$/,
      /CNAME record for a\.example with the value share\.example/,
    ],
    [
      {},
      [alias('different', ['192.0.2.1'])],
      'failure',
      /resolves to 192\.0\.2\.1, which is no gateway/,
      /CNAME/,
    ],
    [
      {},
      [alias('unknown', [], 'SERVFAIL')],
      'warning',
      /could not be looked up \(SERVFAIL\)/,
      /name servers/,
    ],
    [
      { certificate: { ...NONE, ...failed, state: 'FAILED' } },
      [],
      'failure',
      /a\.example has no certificate; the last order failed: DNS problem: NXDOMAIN; the next one is possible at 2030/,
      /port 80/,
    ],
    [
      { certificate: { ...failed, state: 'VALID', validUntil: '2029-12-31T00:00:00.000Z' } },
      [],
      'warning',
      /is valid until 2029-12-31; the last order failed/,
      /port 80/,
    ],
    [
      { certificate: { ...NONE, state: 'EXPIRED', validUntil: '2020-12-31T00:00:00.000Z' } },
      [],
      'failure',
      /expired on 2020-12-31$/,
      /port 80/,
    ],
  ] as const;
  for (const [more, records, state, message, remedy] of rows) {
    const verdict = await verdictOf(
      [domain('b.example'), domain('a.example', more)].slice(records.length === 0 ? 0 : 1),
      () => records,
    );
    assert.equal(verdict.state, state, verdict.message);
    assert.match(verdict.message, message);
    assert.match(String(verdict.remedy), remedy);
  }
});

test('name servers that do not answer hold nothing', async () => {
  const call = ({ path }: { path: string }) =>
    path.endsWith('/dns-check') ? new Promise(() => {}) : Promise.resolve({ content: [domain('a.example')] });
  const verdict = await domainsVerdict({ call } as unknown as ManagementClient, 'f', 1);
  assert.equal(verdict.state, 'warning');
  assert.match(verdict.message, /a\.example could not be looked up in time/);
});
