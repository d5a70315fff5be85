import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NameRecords } from '#domain';
import { judgeDns } from './dns-policy.ts';

const ZONE = 'share.example.net';
const none: NameRecords = { alias: undefined, addresses: [], problem: undefined };
const zone: NameRecords = { ...none, addresses: ['192.0.2.1', '2001:db8::1'] };

test('a name is right by an alias at the zone, or by one of its addresses', () => {
  const cases: readonly [NameRecords, NameRecords, string][] = [
    [{ ...none, alias: ZONE, addresses: ['192.0.2.1'] }, zone, 'correct'],
    [{ ...none, alias: `a.Share.Example.NET.` }, none, 'correct'],
    [{ ...none, addresses: ['2001:db8::1'] }, zone, 'correct'],
    [{ ...none, alias: 'cdn.example.org', addresses: ['192.0.2.1'] }, zone, 'correct'],
    [{ ...none, alias: `other${ZONE}` }, zone, 'different'],
    [{ ...none, addresses: ['192.0.2.9'] }, zone, 'different'],
    [none, zone, 'missing'],
    [{ ...none, problem: 'queryA ETIMEOUT' }, zone, 'unknown'],
    [{ ...none, addresses: ['192.0.2.9'] }, { ...none, problem: 'queryA ETIMEOUT' }, 'unknown'],
  ];
  for (const [ofName, ofZone, state] of cases)
    assert.equal(judgeDns(ZONE, ofName, ofZone).state, state, JSON.stringify(ofName));
});

test('what was found is shown: the alias, or else the addresses', () => {
  const alias = judgeDns(ZONE, { ...none, alias: 'cdn.example.org', addresses: ['192.0.2.9'] }, zone);
  assert.deepEqual(alias.found, ['cdn.example.org']);
  const addresses = judgeDns(ZONE, { ...none, addresses: ['192.0.2.9'] }, zone);
  assert.deepEqual(addresses.found, ['192.0.2.9']);
});
