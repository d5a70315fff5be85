import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isVersionIn, isVersionRange } from './version-range-policy.ts';

test('versions are compared as semver, in ranges with and, or, operators and wildcards', () => {
  const inside: [string, string][] = [
    ['10.0.19045', '>=10.0.0'],
    ['10.0.19045', '>=10.0.0 <11.0.0'],
    ['10.0.19045', '>= 10.0.0'],
    ['12.1.0', '<11.0.0 || >=12.0.0'],
    ['5.15.0-91', '>5.14.0'],
    ['5.15.0-91', '<5.15.0'],
    ['1.0.0-alpha.2', '>1.0.0-alpha.1'],
    ['1.0.0-alpha.10', '>1.0.0-alpha.9'],
    ['1.0.0-beta', '>1.0.0-alpha.1'],
    ['1.2.3+build', '1.2.3'],
    ['11.4.1', '11.x'],
    ['11.4.1', '11.4.x'],
    ['12.0.0', '>11.x'],
    ['12.0.0', '!=11.x'],
  ];
  for (const [version, range] of inside)
    assert.equal(isVersionIn(version, range), true, `${version} ${range}`);
  const outside: [string, string][] = [
    ['9.9.9', '>=10.0.0'],
    ['11.0.0', '>=10.0.0 <11.0.0'],
    ['11.5.0', '11.4.x'],
    ['11.0.0', '>11.x'],
    ['1.2.4', '1.2.3'],
    ['1.2.3', '!1.2.3'],
  ];
  for (const [version, range] of outside)
    assert.equal(isVersionIn(version, range), false, `${version} ${range}`);
});

test('nothing is in a range, and no version in any, that cannot be parsed', () => {
  for (const range of ['', 'newest', '>=', '11', '>=1.0.0 &&', `${'>=1.0.0 '.repeat(100)}`])
    assert.deepEqual([isVersionIn('11.0.0', range), isVersionRange(range)], [false, false], range);
  for (const range of ['>=10.0.0 <11.0.0 || 12.x', '1.2.3', '!= 1.2.*'])
    assert.ok(isVersionRange(range), range);
  for (const version of ['', '11', '11.0', 'v11.0.0', '1.0.0.0', `1.0.0-${'a'.repeat(1_000)}`])
    assert.equal(isVersionIn(version, '>=0.0.0'), false, version);
});
