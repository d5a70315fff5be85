/** JSON texts made from valid ones by breaking one thing; what `JSON.stringify` cannot say is put in as text. */
import fc from 'fast-check';

const DEPTH = 10_000;

/** Texts that stand in the place of any value, by what is wrong with them. */
export const HOSTILE_VALUES: readonly (readonly [what: string, text: string])[] = [
  ['null', 'null'],
  ['true', 'true'],
  ['zero', '0'],
  ['minus zero', '-0'],
  ['a fraction', '1.5'],
  ['a number beyond doubles', '1e400'],
  ['a long number', '9'.repeat(400)],
  ['an empty string', '""'],
  ['spaces', '"   "'],
  ['a lone high surrogate', '"\\ud800"'],
  ['a lone low surrogate', '"a\\udfff"'],
  ['NUL', '"\\u0000"'],
  ['a line break', '"a\\r\\nSet-Cookie: x=1"'],
  ['markup', '"<script>alert(1)</script>"'],
  ['SQL', '"\'; DROP TABLE frontdoor; --"'],
  ['a path', '"../../etc/passwd"'],
  ['right-to-left override', '"\\u202egnp.exe"'],
  ['a huge string', JSON.stringify('x'.repeat(100_000))],
  ['many astral characters', JSON.stringify('😀'.repeat(300))],
  ['an array', '[]'],
  ['an array of arrays', '[[],[[]]]'],
  ['an object', '{}'],
  ['__proto__', '{"__proto__":{"polluted":true}}'],
  ['constructor', '{"constructor":{"prototype":{"polluted":true}}}'],
  ['an array with a name', '{"length":4294967295,"0":"a"}'],
  ['deep arrays', '['.repeat(DEPTH) + ']'.repeat(DEPTH)],
  ['deep objects', '{"a":'.repeat(DEPTH) + '1' + '}'.repeat(DEPTH)],
  ['toString', '{"toString":1,"valueOf":null,"then":"x"}'],
];

/** Whole texts that are no JSON, or no object. */
export const HOSTILE_TEXTS: readonly string[] = [
  ...HOSTILE_VALUES.map(([, text]) => text),
  '',
  ' ',
  '{',
  '{"name":}',
  "{'name':'x'}",
  '{"name":"x",}',
  '{"name":"x"}{"name":"y"}',
  'NaN',
  'undefined',
  '\ufeff{}',
  '{"name":"\u0001"}',
  'name=x&organizationId=y',
  '<xml/>',
  `${'['.repeat(DEPTH)}`,
];

const EXTRA_NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '',
  'nAme',
  'x'.repeat(5_000),
];

/** Valid texts, and the same with a field replaced, doubled, added, taken away; sometimes something else altogether. */
export function hostileTexts(valid: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const hostile = fc.constantFrom(...HOSTILE_VALUES.map(([, text]) => text));
  const replaced = fc
    .tuple(valid, fc.nat(), hostile)
    .map(([value, at, text]) => withReplaced(value, at, text));
  const doubled = fc
    .tuple(valid, fc.nat(), hostile)
    .map(([value, at, text]) => withMember(value, nameAt(value, at), text));
  const added = fc
    .tuple(valid, fc.constantFrom(...EXTRA_NAMES), hostile)
    .map(([value, name, text]) => withMember(value, name, text));
  const missing = fc.tuple(valid, fc.nat()).map(([value, at]) => withoutField(value, at));
  return fc.oneof(
    { weight: 3, arbitrary: valid.map((value) => JSON.stringify(value)) },
    { weight: 6, arbitrary: replaced },
    { weight: 1, arbitrary: doubled },
    { weight: 2, arbitrary: added },
    { weight: 1, arbitrary: missing },
    { weight: 1, arbitrary: valid.map((value) => JSON.stringify([value])) },
    { weight: 2, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
  );
}

const MARK = 'PUT-HOSTILE-HERE';

/** The value's text with its `at`-th part (counted around) replaced by `text`. */
function withReplaced(value: unknown, at: number, text: string): string {
  let left = at % (partsOf(value) || 1);
  const marked = (part: unknown): unknown => {
    if (left === 0) {
      left -= 1;
      return MARK;
    }
    left -= 1;
    if (Array.isArray(part)) return part.map(marked);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, marked(each)]));
  };
  return JSON.stringify(marked(value)).replace(`"${MARK}"`, () => text);
}

function partsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return 1 + Object.values(value).reduce((sum: number, each) => sum + partsOf(each), 0);
}

/** One more member, whether or not there is one of this name. */
function withMember(value: unknown, name: string, text: string): string {
  const inside = JSON.stringify(value).slice(1, -1);
  return `{${inside}${inside === '' ? '' : ','}${JSON.stringify(name)}:${text}}`;
}

function nameAt(value: unknown, at: number): string {
  const names = Object.keys(value as object);
  return names[at % (names.length || 1)] ?? 'name';
}

function withoutField(value: unknown, at: number): string {
  const lost = nameAt(value, at);
  return JSON.stringify(
    Object.fromEntries(Object.entries(value as object).filter(([name]) => name !== lost)),
  );
}
