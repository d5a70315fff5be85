// Each format is one thing to the server, to readers of the API's description, and to the parsers that act on it.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  formatIsoDuration,
  isShareName,
  isUuid,
  isZoneName,
  parseAddress,
  parseIpNetwork,
  parseIsoDuration,
  parseName,
  parseShareTarget,
  parseWebOrigin,
} from '#domain';
import { isCertificateName, parseEmailPattern, parsePathPattern } from '#domain/access';
import { fc } from '../../test/support/fast-check.ts';
import { effort } from '../../test/support/test-part.ts';
import { parseHostHeader } from '#domain/upstream';
import { textsLike, textsMatching } from '../../test/support/pattern-texts.ts';
import { formatValues } from './format-value-fixture.ts';
import { brokenRule, stringFormats, type FormatName } from './format-table.ts';

const DAY_MS = 86_400_000;
const names = Object.keys(stringFormats) as FormatName[];

/** Parsers that act on values; a parser that stands alone agrees with its format on every text. */
const parsers: Partial<Record<FormatName, (text: string) => boolean>> = {
  uuid: isUuid,
  name: (text) => parseName(text) !== undefined,
  'share-name': isShareName,
  'share-target': (text) => parseShareTarget(text) !== undefined,
  'service-name': (text) => parseName(text) !== undefined && !text.includes('@'),
  'email-pattern': (text) => parseEmailPattern(text) !== undefined,
  'ip-network': (text) => parseIpNetwork(text) !== undefined,
  'ip-address': (text) => parseAddress(text) !== undefined,
  'path-pattern': (text) => parsePathPattern(text) !== undefined,
  'certificate-name': isCertificateName,
  'cors-origin': (text) => text === '*' || parseWebOrigin(text) !== undefined,
  'web-origin': (text) => parseWebOrigin(text) !== undefined,
  'upstream-host': (text) => parseHostHeader(text) !== undefined,
  'zone-name': isZoneName,
};

/** A reader of the API's description that knows nothing of Frontdoor. */
function reader(name: FormatName): (text: string) => boolean {
  const ajv = new Ajv2020({ strict: true });
  ajv.addFormat('uuid', /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
  ajv.addFormat('uri', /^[a-z][a-z0-9+.-]*:\S+$/i);
  ajv.addFormat('date-time', (text) => !Number.isNaN(Date.parse(text)) && isCalendarTime(text));
  return ajv.compile({ type: 'string', ...stringFormats[name].words });
}

function isCalendarTime(text: string): boolean {
  const parts = /^(\d{4})-(\d\d)-(\d\d)t\d\d:\d\d:\d\d(\.\d+)?(z|[+-]\d\d:\d\d)$/i.exec(text);
  if (parts === null) return false;
  const [year, month, day] = parts.slice(1, 4).map(Number) as [number, number, number];
  return month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

suite('formats', () => {
  for (const name of names) {
    const format = stringFormats[name];
    const { pattern } = format.words as { pattern?: string };
    const isReadable = reader(name);
    const { right, wrong } = formatValues[name];

    test(`${name}: server and description take the same of 400 drawn values and of those at the edges`, () => {
      const drawn = pattern === undefined ? fc.constantFrom(...right) : textsLike(pattern);
      /** Values near the right ones: one character more, less or another. */
      const near = fc
        .tuple(
          fc.oneof(drawn, fc.constantFrom(...right)),
          fc.nat(),
          fc.string({ maxLength: 2 }),
          fc.boolean(),
        )
        .map(([text, at, put, isOver]) => {
          const start = at % (text.length + 1);
          return text.slice(0, start) + put + text.slice(start + (isOver ? 1 : 0));
        });
      const judge = (text: string): void => {
        if (!text.isWellFormed()) return;
        assert.equal(format.check(text), isReadable(text), JSON.stringify(text));
        const parse = parsers[name];
        if (parse !== undefined) assert.equal(parse(text), format.check(text), JSON.stringify(text));
      };
      for (const text of [...right, ...wrong]) judge(text);
      fc.assert(fc.property(drawn, judge), { numRuns: effort(200) });
      fc.assert(fc.property(near, judge), { numRuns: effort(200) });
    });

    test(`${name}: what is right passes, what is wrong is refused by a rule in words`, () => {
      assert.ok(format.check(format.example), format.example);
      for (const text of right) assert.ok(format.check(text), text);
      for (const text of wrong) {
        assert.ok(!format.check(text), text);
        assert.doesNotMatch(brokenRule(name, text), /^(?:string|integer|number|boolean|array|object)?$/);
      }
    });

    test(`${name}: its pattern means the same to other readers of patterns`, () => {
      if (pattern === undefined) return;
      assert.match(pattern, /^\^[^]*\$$/);
      assert.doesNotMatch(
        pattern,
        /\(\?<|\\[pPdDwWsSbB]|\(\?[a-z]/,
        'only what ECMA-262, Python and Java share',
      );
      // Beyond the basic plane ECMA-262 counts characters only under the flag that JSON Schema asks for.
      for (const text of [...right, ...wrong].filter((each) => !/[\ud800-\udfff]/.test(each))) {
        assert.equal(new RegExp(pattern).test(text), new RegExp(pattern, 'u').test(text), text);
      }
    });

    test(`${name}: a hostile text of any length is judged at once`, () => {
      const before = process.cpuUsage();
      for (const part of ['a', 'a.', ' ', '0:', '%41', '/a', '1', '-', 'P1', '*@a.'])
        format.check(part.repeat(1_000_000 / part.length) + '\u0000');
      for (const part of ['a', 'a.', ' ', '0:', '%41', '/a', '1', 'A\n'])
        format.check(part.repeat((format.words.maxLength ?? 60) / part.length - 1) + '\u0000');
      const { user, system } = process.cpuUsage(before);
      assert.ok(user + system < 2_000_000, `${user + system} µs`);
    });
  }

  test('the refusal of a share name states the broken rule', () => {
    const rules = ['a-', 'api', 'xn--abc'].map((text) => brokenRule('share-name', text));
    assert.deepEqual(rules, [
      'share name (1 to 63 of a-z, 0-9 and -, no - at either end)',
      'share name other than oauth, api, www',
      'share name without -- in the third and fourth place',
    ]);
  });

  test('a span is a duration from a second to 365 days, and every one that we write is a span', () => {
    const { pattern = '' } = stringFormats.span.words;
    fc.assert(
      fc.property(textsMatching(pattern), (text) => {
        const ms = parseIsoDuration(text)!;
        assert.ok(ms >= 1_000 && ms <= 365 * DAY_MS, text);
      }),
      { numRuns: effort(1_000) },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 365 * DAY_MS }), (ms) => {
        assert.ok(stringFormats.span.check(formatIsoDuration(ms)), formatIsoDuration(ms));
      }),
      { numRuns: effort(1_000) },
    );
  });
});
