// Public paths have one reading: a path that a lenient server could take for another path needs an identity.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { fc } from '../../../test/support/fast-check.ts';
import { parsePathPattern, PathRules } from './path-rules.ts';

const rules = new PathRules(['/health', '/static/*', '/caf%c3%a9', '/a/b/*']);

suite('public paths', () => {
  test('are the path itself or all below it, in any spelling of the same path', () => {
    for (const target of [
      '/health',
      '/health?x=1',
      '/he%61lth',
      '/static/',
      '/static/a/b.js?../x',
      '/static/a%20b',
      '/caf%C3%A9',
      '/caf%c3%a9',
      '/a/b/c/',
      '/%73tatic/x',
      '/static/.hidden',
    ])
      assert.equal(rules.kind(target), 'public', target);
  });

  test('are no others: neither case, nor a longer name, nor what the query holds', () => {
    for (const target of [
      '/',
      '/Health',
      '/health/',
      '/healthy',
      '/static',
      '/STATIC/x',
      '/admin?x=/static/y',
      '/admin?/health',
      '*',
      '/static/%252e%252e/admin',
      '/static/..%20/admin',
      '/static/..x',
    ])
      assert.equal(rules.kind(target), 'guarded', target);
  });

  test('with a second reading are ambiguous', () => {
    for (const target of [
      '/static/../admin',
      '/static/..',
      '/static/./x',
      '/static//x',
      '//static/x',
      '/static/%2e%2e/admin',
      '/static/.%2E/admin',
      '/static%2fadmin',
      '/static/..%2Fadmin',
      '/static/x%5c..%5cadmin',
      '/static/..\\admin',
      '/static/..;/admin',
      '/static/x;y',
      '/static/%3b',
      '/static/%00',
      '/static/a\u0000',
      '/static/%0d%0a',
      '/static/%7f',
      '/static/a b',
      '/static/#/x',
      '/static/%zz',
      '/static/%u002e',
      '/static/%',
      '/static/%4',
      '/static/%c0%af',
      '/static/%c0%ae',
      '/static/%e0%80%af',
      '/static/%f0%80%80%af',
      '/static/%c3',
      '/static/%c3x',
      '/static/%c3/%a9',
      '/static/%a9',
      '/static/%ed%a0%80',
      '/static/%f4%90%80%80',
      '/static/\u00e9',
      'static/x',
      '',
    ])
      assert.equal(rules.kind(target), 'ambiguous', JSON.stringify(target));
  });

  test("never hold the gateway's own paths, and without them nothing is ambiguous", () => {
    const all = new PathRules(['/*']);
    assert.equal(all.kind('/anything'), 'public');
    assert.equal(all.kind('/'), 'public');
    assert.equal(all.kind('/.frontdoor/login?code=x'), 'guarded');
    assert.equal(all.kind('/.frontdoor'), 'guarded');
    assert.equal(all.kind('/.frontdoors'), 'public');
    assert.equal(new PathRules([]).kind('/x/../y'), 'guarded');
  });

  test('are written as one path, perhaps with all below it', () => {
    for (const text of ['/', '/*', '/a', '/a/', '/a/*', '/a.b/~c/@d', '/caf%C3%A9/*']) {
      assert.notEqual(parsePathPattern(text), undefined, text);
    }
    for (const text of [
      '',
      'a',
      '*',
      '/a*',
      '/*/a',
      '/a/*/b',
      '//a',
      '/a//b',
      '/a/../b',
      '/./a',
      '/..',
      '/a?b',
      '/a;b',
      '/a#b',
      '/a b',
      '/%2e/a',
      '/a%2fb',
      '/%25',
      '/%',
      '/caf\u00e9',
      '/.frontdoor/*',
      `/${'a'.repeat(1_024)}`,
    ])
      assert.equal(parsePathPattern(text), undefined, text);
    assert.equal(new PathRules(['/a*', 'x']).kind('/a/b'), 'guarded');
  });
});

/** What lenient servers do to a path, one after the other and again: decode, cut, collapse, resolve. */
function lenientReadings(target: string): string[] {
  const readings: string[] = [];
  let path = target.replace(/[?].*$/s, '');
  for (let round = 0; round < 3; round += 1) {
    const cut = path
      .replaceAll('\\', '/')
      .replaceAll(/;[^/]*/g, '')
      .split('\0')[0]!
      .replace(/#.*$/s, '');
    readings.push(resolved(path), resolved(cut), resolved(cut.replaceAll(/\.\.[ \t]+/g, '..')));
    path = path.replaceAll(/%c0%af|%e0%80%af/gi, '/').replaceAll(/%c0%ae/gi, '.');
    path = path.replaceAll(/%u00([0-9a-f]{2})|%([0-9a-f]{2})/gi, (_, wide: string | undefined, hex: string) =>
      String.fromCharCode(Number.parseInt(wide ?? hex, 16)),
    );
  }
  return readings;
}

function resolved(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split(/\/+/)) {
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
  }
  return `/${kept.join('/')}`.replaceAll(/\/+/g, '/');
}

test('no spelling of a guarded path is public, however leniently a server reads it', () => {
  const piece = fc.constantFrom(
    ...[
      'static',
      'admin',
      'health',
      '..',
      '.',
      '...',
      '/',
      '//',
      '\\',
      ';',
      '%2e',
      '%2E',
      '%2f',
      '%5c',
      '%00',
      '%25',
    ],
    ...[
      '%252e',
      '%252f',
      '%c0%ae',
      '%c0%af',
      '%u002e',
      '%u002f',
      ' ',
      '%20',
      '%09',
      '#',
      '%23',
      '%3f',
      '?',
      '%3b',
    ],
    ...['a', 'A', '%61', '%41', '%c3%a9', '%C3%A9', '%', '%e0%80%af', '\t', '%0a', '*', '%2a', '~', '\u00e9'],
  );
  const target = fc.oneof(
    fc.array(piece, { maxLength: 8 }).map((pieces) => `/static/${pieces.join('')}`),
    fc.array(piece, { maxLength: 8 }).map((pieces) => `/${pieces.join('')}`),
    fc.string({ maxLength: 20 }).map((text) => `/static/${text}`),
  );
  const check = fc.property(target, (text) => {
    if (rules.kind(text) !== 'public') return;
    for (const reading of lenientReadings(text)) {
      assert.match(reading, /^\/static(\/|$)|^\/a\/b(\/|$)|^\/health$|^\/caf/, `${text} as ${reading}`);
    }
  });
  // fast-check prints seed and counter-example.
  fc.assert(check, { numRuns: 20_000 });
});

test('escapes of plain letters and the case of escapes change nothing', () => {
  const letter = fc.constantFrom('a', 'b', 's', '-', '_', '7', '%C3%A9', '%20', '/');
  const spelled = (escapes: readonly string[], path: string): string =>
    path.replaceAll(/%[0-9A-F]{2}|[a-z0-9_-]/g, (part, at: number) => {
      if (part.startsWith('%')) return escapes[at % escapes.length] === 'x' ? part : part.toLowerCase();
      return escapes[at % escapes.length] === 'x' ? part : `%${part.charCodeAt(0).toString(16)}`;
    });
  const check = fc.property(
    fc.constantFrom('/static/', '/health', '/a/b/', '/other/', '/caf%C3%A9'),
    fc.array(letter, { maxLength: 6 }),
    fc.array(fc.constantFrom('x', 'y'), { minLength: 1, maxLength: 7 }),
    (start, letters, escapes) => {
      const path = start + letters.join('');
      assert.equal(rules.kind(spelled(escapes, path)), rules.kind(path), spelled(escapes, path));
    },
  );
  fc.assert(check, { numRuns: 5_000 });
});
