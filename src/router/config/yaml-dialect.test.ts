import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainValue, type FileNode } from './file-tree.ts';
import { decodeText, parseYaml } from './yaml-dialect.ts';

function rootOf(text: string): FileNode {
  const parsed = parseYaml(text);
  assert.ok('root' in parsed, JSON.stringify(parsed));
  return parsed.root;
}

function faultOf(text: string): string {
  const parsed = parseYaml(text);
  assert.ok('fault' in parsed, 'no fault');
  return `${parsed.fault.line}: ${parsed.fault.message}`;
}

test('scalars are those of YAML 1.1 as OpenZiti reads them, whole numbers apart from others', () => {
  for (const [text, kind, value] of [
    ['yes', 'flag', true],
    ['y', 'flag', true],
    ['On', 'flag', true],
    ['TRUE', 'flag', true],
    ['n', 'flag', false],
    ['off', 'flag', false],
    ['yEs', 'text', 'yEs'],
    ['~', 'null', null],
    ['NULL', 'null', null],
    ['', 'null', null],
    ['12', 'integer', 12],
    ['-1_000', 'integer', -1_000],
    ['0x1F', 'integer', 31],
    ['0o17', 'integer', 15],
    ['017', 'integer', 15],
    ['0b101', 'integer', 5],
    ['0', 'integer', 0],
    ['08', 'float', 8],
    ['1.0', 'float', 1],
    ['1e3', 'float', 1_000],
    ['.5', 'float', 0.5],
    ['9999999999999999999999', 'float', 1e22],
    ['1:30', 'text', '1:30'],
    ['2001-12-14', 'text', '2001-12-14'],
    ['2001-12-14T21:59:43Z', 'text', '2001-12-14T21:59:43Z'],
    ['"12"', 'text', '12'],
    ['!!str 12', 'text', '12'],
    ['!!int "12"', 'integer', 12],
    ['5s', 'text', '5s'],
  ] as const) {
    const root = rootOf(`key: ${text}\n`);
    const node = root.kind === 'map' ? root.entries.get('key')!.node : root;
    assert.equal(node.kind, kind, text);
    assert.equal(plainValue(node), value, text);
  }
});

test('a byte order mark is passed over, a directive changes nothing, and the end of a document needs no mark', () => {
  assert.deepEqual(plainValue(rootOf('---\na: 1\n...\n')), { a: 1 });
  assert.deepEqual(plainValue(rootOf('\uFEFFa: 1\n')), { a: 1 });
  assert.deepEqual(plainValue(rootOf('%YAML 1.2\n---\na: yes\n')), { a: true });
  assert.equal(rootOf('# nothing\n').kind, 'null');
});

test('anchors, aliases and merge keys work; what stands in the map itself wins over what is merged', () => {
  const text =
    'base: &b { x: 1, y: 1 }\nmore: &m { z: 2, y: 2 }\none: { <<: *b, y: 3 }\ntwo: { <<: [*m, *b] }\n';
  const { one, two } = plainValue(rootOf(text)) as Record<string, unknown>;
  assert.deepEqual(
    [one, two],
    [
      { x: 1, y: 3 },
      { x: 1, y: 2, z: 2 },
    ],
  );
});

test('the last of equal keys wins, and each further one is reported by path and line', () => {
  const parsed = parseYaml('a: 1\nb:\n- c: 1\n  c: 2\na: 3\n');
  assert.ok('root' in parsed);
  assert.deepEqual(plainValue(parsed.root), { a: 3, b: [{ c: 2 }] });
  assert.deepEqual(parsed.duplicates, [
    { path: 'b[0].c', line: 4, column: 3 },
    { path: 'a', line: 5, column: 1 },
  ]);
});

test('text values are put through the substitution, keys are not, and what was written is kept', () => {
  const parsed = parseYaml('$K: [$V, 5, "x"]\n', (text) => text.replace('$V', 'value'));
  assert.ok('root' in parsed && parsed.root.kind === 'map');
  const list = parsed.root.entries.get('$K')!.node;
  assert.ok(list.kind === 'list');
  assert.deepEqual(list.items, [
    { kind: 'text', value: 'value', written: '$V', line: 1, column: 6 },
    { kind: 'integer', value: 5, line: 1, column: 10 },
    { kind: 'text', value: 'x', line: 1, column: 13 },
  ]);
});

test('invalid YAML is one fault with its line', () => {
  assert.match(faultOf('v: 3\nctrl: [\n'), /^[23]: is no YAML: /);
  assert.match(faultOf('v: 3\n/\nctrl: {}\n'), /^2: /);
  assert.match(faultOf('a:\n\tb: 1\n'), /^2: .*Tabs/);
  assert.equal(faultOf('a: 1\nb: *none\n'), '2: the alias *none names no anchor above it');
  assert.equal(faultOf('a: &a [*a]\n'), '1: the anchor a holds itself');
  assert.equal(faultOf('a: 1\nb: \0\n'), '2: holds control characters');
  assert.equal(faultOf('a: 1\n? [b]\n: 2\n'), '2: a key must be a plain name');
  assert.equal(faultOf('a: { <<: 5 }\n'), '1: what << takes in must be a map');
});

test('nesting, aliases that multiply and length are bounded, and refused at once', () => {
  // Processor time, because the machine may be busy with other tests.
  const started = process.cpuUsage();
  assert.match(faultOf('['.repeat(200_000)), /^1: is nested too deeply/);
  assert.match(faultOf(`a: ${'{ a: '.repeat(100)}1${' }'.repeat(100)}\n`), /^1: is nested too deeply/);
  const levels = 'bcdefgh'.split('').map((name, i) => {
    const below = 'abcdefg'[i]!;
    return `${name}: &${name} [${Array(10).fill(`*${below}`).join(', ')}]\n`;
  });
  assert.match(faultOf(`a: &a [1, 1, 1, 1]\n${levels.join('')}`), /^\d: aliases multiply it beyond measure/);
  assert.match(faultOf(`a: ${'x'.repeat(1_100_000)}\n`), /^1: is longer than/);
  // `router-file-rules.test.ts` reads ten times as much.
  assert.deepEqual(plainValue(rootOf(`${'# padding\n'.repeat(100_000)}a: 1\n`)), { a: 1 });
  const { user, system } = process.cpuUsage(started);
  assert.ok(user + system < 10_000_000, `${user + system} µs`);
});

test('bytes are UTF-8, or UTF-16 with its mark; anything else is a fault', () => {
  assert.equal(decodeText(Buffer.from('a: é')), 'a: é');
  assert.equal(decodeText(Buffer.from('\uFEFFa: é', 'utf16le')), 'a: é');
  assert.deepEqual(decodeText(Buffer.from([0x61, 0xff, 0x61])), {
    line: 1,
    column: 1,
    message: 'is not text in UTF-8',
  });
});
