// No spelling of a path leads around an answer or a route of that path, however leniently the service reads it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/support/fast-check.ts';
import { OwnAnswers } from './own-answers.ts';
import { PathTargets } from './path-targets.ts';

const answers = new OwnAnswers([{ path: '/admin/*', status: 404, text: '' }]);
const targets = new PathTargets([{ path: '/admin', route: 'admin' }]);

/** Readings before escapes are decoded, which have other spellings of the same path. */
const UNDECODED = 4;

/** What lenient servers do to a path, one after the other and again: cut, collapse, resolve, decode. */
function readingsOf(target: string): string[] {
  const readings: string[] = [];
  let path = target.replace(/[?].*$/s, '');
  for (let round = 0; round < 4; round += 1) {
    const cut = path
      .replaceAll('\\', '/')
      .replaceAll(/;[^/]*/g, '')
      .replace(/[\0#].*$/s, '');
    readings.push(path, resolved(path), resolved(cut), resolved(cut.replaceAll(/\.\.[ \t]+/g, '..')));
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

test('no spelling of a path reaches the service that another one has', () => {
  const piece = fc.constantFrom(
    ...[
      'admin',
      'x',
      '..',
      '.',
      '...',
      '/',
      '//',
      '\\',
      ';',
      '?',
      ' ',
      '\t',
      '#',
      '%',
      '%20',
      '%09',
      '%23',
      '%3f',
    ],
    ...['%2e', '%2E', '%2f', '%5c', '%00', '%25', '%252e', '%252f', '%25252f', '%c0%ae', '%c0%af', '%u002e'],
    ...['%u002f', '%3b', '%61dmin', '%2561dmin', 'a%64min', '%c3%a9', '%e0%80%af', '\u00e9'],
  );
  const target = fc.array(piece, { maxLength: 9 }).map((pieces) => `/${pieces.join('')}`);
  const check = fc.property(target, (text) => {
    const isBelow = readingsOf(text).map((reading) => reading.startsWith('/admin/'));
    if (answers.find(text) === undefined) assert.ok(!isBelow.includes(true), text);
    const route = targets.find(text);
    if (route === undefined) assert.ok(!isBelow.includes(true), text);
    if (route === 'admin')
      assert.ok(
        readingsOf(text)
          .slice(UNDECODED)
          .every((reading) => /^\/admin(?:\/|$)/.test(resolved(reading))),
        text,
      );
  });
  // fast-check prints seed and counter-example.
  fc.assert(check, { numRuns: 20_000 });
});
