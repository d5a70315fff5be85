import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/fast-check.ts';
import { effort } from '../../../test/support/test-part.ts';
import { readRequestHead, RequestHead } from '../http/request-head-policy.ts';
import { OWN_COOKIE_PREFIX, readOwnCookies, SESSION_COOKIE } from './own-cookies.ts';
import { DOUBLED, findField, findParameter, NOT_THERE } from './request-credentials.ts';
import { returnTarget } from './return-target-policy.ts';
import { TEST_SEED } from '../../../test/support/test-seed.ts';

const runs = { numRuns: effort(2_000) };

function headOf(lines: readonly string[], target = '/'): RequestHead {
  const head = new RequestHead();
  const text = `GET ${target} HTTP/1.1\r\nHost: a.example\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
  assert.equal(readRequestHead(text, 100, head), undefined, text);
  return head;
}

describe(`a parsed request (FRONTDOOR_TEST_SEED=${TEST_SEED})`, () => {
  it('leaves every other cookie as it was, in its order, and removes those of Frontdoor', () => {
    const name = fc.constantFrom(
      'a',
      'theme',
      SESSION_COOKIE,
      `${OWN_COOKIE_PREFIX}login`,
      `x${OWN_COOKIE_PREFIX}`,
    );
    const value = fc.constantFrom('', 'A'.repeat(43), '1', '"a b"', 'x=y', `${SESSION_COOKIE}=1`);
    const pair = fc.tuple(name, fc.constantFrom('=', ' ='), value).map((parts) => parts.join(''));
    const line = fc.array(pair, { minLength: 1, maxLength: 6 });
    const separator = fc.constantFrom(';', '; ', ' ;  ');
    const property = fc.property(fc.array(line, { maxLength: 4 }), separator, (lines, between) => {
      const head = headOf(lines.map((pairs) => `Cookie: ${pairs.join(between)}`));
      const { omitted, lines: rest, session } = readOwnCookies(head);
      const nameOf = (text: string): string => text.slice(0, text.indexOf('=')).trim();
      const changed = lines.map((pairs) =>
        pairs.filter((text) => !nameOf(text).startsWith(OWN_COOKIE_PREFIX)),
      );
      const indices = lines.flatMap((pairs, i) => (changed[i]!.length < pairs.length ? [i + 1] : []));
      assert.deepEqual([...omitted], indices);
      const wanted = indices.map((i) => changed[i - 1]!.join(between)).filter((text) => text !== '');
      const kept = rest.split('\r\n').filter((text) => text !== '');
      assert.deepEqual(
        kept.map((text) => text.replace('Cookie: ', '').trim()),
        wanted,
      );
      const own = lines.flat().filter((text) => nameOf(text).startsWith(OWN_COOKIE_PREFIX));
      const isClear = own.length <= 10 && new Set(own.map(nameOf)).size === own.length;
      const right = own.find(
        (text) => nameOf(text) === SESSION_COOKIE && text.endsWith(`=${'A'.repeat(43)}`),
      );
      assert.equal(session, isClear && right !== undefined ? 'A'.repeat(43) : undefined);
    });
    fc.assert(property, runs);
  });

  it('takes one parameter out of a target and leaves the others as they were', () => {
    const piece = fc.constantFrom(
      'key=a',
      'k%65y=b%20c',
      'key',
      'KEY=x',
      'key2=y',
      'a=%',
      '',
      '=',
      'x=key=a',
      'b=1;2',
      '%6Bey=+',
    );
    const property = fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const isKey = (text: string): boolean => /^k(?:e|%65)y(?:=|$)|^%6Bey=/.test(text);
      const mine = pieces.filter(isKey);
      const target = `/p%41th?${pieces.join('&')}`;
      const found = findParameter(target, 'key');
      if (mine.length === 0) assert.equal(found, undefined, target);
      else if (mine.length > 1) assert.equal(found, DOUBLED, target);
      else {
        assert.ok(found !== undefined && found !== DOUBLED, target);
        assert.equal(found.value, new URLSearchParams(mine[0]).get('key'));
        const others = pieces.filter((text) => !isKey(text));
        assert.equal(found.rest, others.length === 0 ? '/p%41th' : `/p%41th?${others.join('&')}`);
      }
    });
    fc.assert(property, runs);
  });

  it('finds a header by its whole name, in any case, and one that is there twice as that', () => {
    const lines = fc.array(
      fc.constantFrom('X-Key: a', 'x-KEY: b', 'X_Key: c', 'X-Key2: d', 'XX-Key: e', 'X-Kex: f'),
      { maxLength: 5 },
    );
    const property = fc.property(lines, (given) => {
      const { fields } = headOf(given);
      const exact = given.filter((line) => /^x-key:/i.test(line));
      const any = given.filter((line) => /^x[-_]key:/i.test(line));
      const found = findField(fields, 'x-key');
      if (any.length > 1) assert.equal(found, DOUBLED);
      else if (exact.length === 0) assert.equal(found, NOT_THERE);
      else assert.equal(fields.value(found), exact[0]!.slice(7));
    });
    fc.assert(property, runs);
  });

  it('sends a browser to a path of its own host, whatever the text', () => {
    const base = 'https://share.example/.frontdoor/login?code=x';
    const part = fc.constantFrom(
      '/',
      '\\',
      '//',
      '.',
      '..',
      ';',
      '?',
      '#',
      '@',
      ':',
      '%2f',
      '%5C',
      '%09',
      '\t',
      '\n',
      '\r',
      ' ',
      '\0',
      'evil.example',
      'https:',
      'javascript:',
      '\u00a0',
      '\uff0f',
      '\u2028',
      '[',
      ']',
      '&',
      '=',
    );
    const text = fc.oneof(
      fc.array(part, { maxLength: 8 }).map((parts) => parts.join('')),
      fc.string({ unit: 'binary', maxLength: 20 }),
    );
    const property = fc.property(text, fc.boolean(), (random, isRooted) => {
      const target = returnTarget(isRooted ? `/${random}` : random);
      const url = new URL(target, base);
      assert.equal(url.origin, 'https://share.example', JSON.stringify(random));
      assert.match(target, /^\/[!-~]*$/);
    });
    fc.assert(property, { ...runs, numRuns: effort(20_000) });
    for (const kept of [
      '/',
      '/a?b=c&d=%20',
      '/a/b;c=1',
      "/~user/(x)'!*",
      '/?x=\\',
      '/a?u=https://other.example/',
    ])
      assert.equal(returnTarget(kept), kept);
  });
});
