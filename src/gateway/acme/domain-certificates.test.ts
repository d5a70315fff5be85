import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_REPORTED_DOMAINS } from '#domain/gateway-shapes';
import { DomainCertificates, type NamedShare } from './domain-certificates.ts';

/** Domains of one share, each after a name in a zone. */
function reportOf(hosts: readonly string[], ends: ReadonlyMap<string, number> = new Map()) {
  const entries = new Map<string, NamedShare>();
  const add = (host: string, isDomain: boolean): void =>
    void entries.set(host, { host, isDomain, route: { share: { id: `of-${host}` } } });
  for (const host of hosts) {
    add(`in-zone-${host}`, false);
    add(host, true);
  }
  const table = { find: (host: string) => entries.get(host), entries: () => entries.values() };
  const domains = new DomainCertificates({
    table: () => table,
    certificates: { endOf: (host) => ends.get(host) },
  });
  return { domains, entries };
}

test('all domains of any number are reported by turns, each once in a turn', () => {
  const hosts = Array.from({ length: 2 * MAX_REPORTED_DOMAINS + 1 }, (_, i) => `d${i}.example`);
  const { domains } = reportOf(hosts, new Map([['d0.example', 5]]));
  const parts = [domains.next(), domains.next(), domains.next()];
  assert.deepEqual(
    parts.map(({ length }) => length),
    [MAX_REPORTED_DOMAINS, MAX_REPORTED_DOMAINS, 1],
  );
  assert.deepEqual(
    parts.flat().map(({ host }) => host),
    hosts,
  );
  const first = { host: 'd0.example', shareId: 'of-d0.example' };
  assert.deepEqual(parts[0]![0], { ...first, validUntilMs: 5, problem: null, retryAtMs: null });
  assert.equal(domains.next()[0]!.host, 'd0.example', 'the next turn');
});

test('a domain whose order has ended comes first, with the reason until there is a certificate', () => {
  const { domains, entries } = reportOf(['a.example', 'b.example', 'c.example']);
  const failed = { name: 'b.example', outcome: 'failed', certificate: undefined } as const;
  const failure = { problem: 'refused '.repeat(100), retryAtMs: 9 };
  assert.equal(domains.note({ ...failed, failure }), true);
  assert.equal(domains.note({ ...failed, failure }), false, 'nothing new');
  assert.equal(domains.note({ ...failed, outcome: 'refused' }), false, 'a pause after it');
  assert.equal(domains.note({ ...failed, name: 'in-zone-a.example', failure }), false, 'no domain');
  const [first, ...rest] = domains.next();
  assert.deepEqual([first!.host, first!.retryAtMs, first!.problem?.length], ['b.example', 9, 500]);
  assert.deepEqual(
    rest.map(({ host, problem }) => [host, problem]),
    [
      ['a.example', null],
      ['c.example', null],
    ],
  );
  assert.equal(domains.note({ ...failed, outcome: 'obtained' }), true);
  entries.delete('a.example');
  assert.deepEqual(
    domains.next().map(({ host, problem }) => [host, problem]),
    [
      ['b.example', null],
      ['c.example', null],
    ],
  );
});
