import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isZoneName, zonesOverlap } from './zone-name.ts';

test('a zone is a DNS name of two labels or more, with room for a share in front', () => {
  for (const text of [
    'example.com',
    'a.b.c.Example',
    'xn--bcher-kva.example',
    '1.example',
    'share.localhost',
  ])
    assert.ok(isZoneName(text), text);
  const long = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}`;
  assert.ok(isZoneName(`${long}.abc`) && !isZoneName(`${long}.abcdefgh`));
  for (const text of [
    '',
    'localhost',
    'a.',
    '.a',
    'a..b',
    '-a.b',
    'a-.b',
    'a_b.c',
    '*.a.b',
    'a.b:80',
    'a b.c',
    'b\u00fccher.example',
    '\u212a.example',
    '1.2.3.4',
    'a.1',
    'a.0x7f',
    `${'a'.repeat(64)}.b`,
    '::1',
    '[::1].a',
  ])
    assert.ok(!isZoneName(text), text);
});

test('zones overlap when one is the other or lies below it', () => {
  assert.ok(zonesOverlap('a.b', 'a.b') && zonesOverlap('x.a.b', 'a.b') && zonesOverlap('a.b', 'x.a.b'));
  assert.ok(!zonesOverlap('xa.b', 'a.b') && !zonesOverlap('a.b', 'b.a'));
});
