import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { randomCuts } from '../../../test/support/random-cuts.ts';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import { BackupDecoder, type BackupItem, type BackupSummary } from './backup-decoder.ts';

const HEADER = { frontdoorBackup: 1, takenAt: '2026-01-01T00:00:00.000Z', migrations: ['0001-a'] };
const LINES = [
  HEADER,
  { table: 'organization', columns: ['id', 'name'] },
  ['o1', 'Größe ☃'],
  ['o2', null],
  { table: 'share', columns: ['id', 'epoch'] },
  ['s1', 7],
  { table: 'empty', columns: [] },
];

function bytesOf(lines: readonly unknown[], trailer: object = {}): Uint8Array {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const sha256 = createHash('sha256').update(text).digest('hex');
  const end = { rows: { organization: 2, share: 1, empty: 0 }, sha256, ...trailer };
  return Buffer.from(`${text}${JSON.stringify({ end })}\n`);
}

function decode(pieces: Iterable<Uint8Array>): { items: BackupItem[]; summary: BackupSummary } {
  const hash = createHash('sha256');
  const decoder = new BackupDecoder({
    update: (bytes) => void hash.update(bytes),
    digest: () => hash.copy().digest('hex'),
  });
  const items = [...pieces].flatMap((piece) => decoder.push(piece));
  return { items, summary: decoder.end() };
}

test('a backup is read whole, byte by byte, and in random cuts', () => {
  const bytes = bytesOf(LINES);
  const expected = decode([bytes]);
  assert.deepEqual(expected.summary, { header: HEADER, rows: { organization: 2, share: 1, empty: 0 } });
  assert.deepEqual(
    expected.items.map((item) => (item.type === 'row' ? item.values : item.type)),
    ['header', 'table', ['o1', 'Größe ☃'], ['o2', null], 'table', ['s1', 7], 'table'],
  );
  assert.deepEqual(decode([...bytes].map((byte) => Uint8Array.of(byte))), expected);
  for (let seed = 0; seed < 20; seed += 1) {
    assert.deepEqual(decode(randomCuts(bytes, new SeededRandom(seed), 40)), expected, `seed ${seed}`);
  }
});

test('a backup with any one byte changed, cut anywhere, or longer than it was is refused', () => {
  const bytes = bytesOf(LINES);
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Uint8Array.from(bytes);
    changed[at] = changed[at]! ^ 1;
    assert.throws(() => decode([changed]), { kind: 'invalid' }, `byte ${at}`);
    assert.throws(() => decode([bytes.subarray(0, at)]), { code: 'backup-damaged' }, `cut at ${at}`);
  }
  for (const more of ['x', '\n', `${JSON.stringify(HEADER)}\n`]) {
    assert.throws(() => decode([bytes, Buffer.from(more)]), { code: 'backup-damaged' });
  }
});

test('a file that is no backup, or one of another format, is distinguished from a damaged one', () => {
  assert.throws(() => decode([Buffer.from('{"name":"frontdoor"}\n')]), {
    code: 'backup-format',
    message: /not a backup of Frontdoor/,
  });
  assert.throws(() => decode([bytesOf([{ ...HEADER, frontdoorBackup: 2 }])]), {
    code: 'backup-format',
    message: /format 2, this version reads 1/,
  });
});

test('rows that fit no table, repeated tables and wrong counts are refused though the checksum is right', () => {
  const wrong: readonly (readonly [readonly unknown[], object])[] = [
    [[HEADER, ['o1']], {}],
    [[...LINES, ['too', 'many']], {}],
    [[...LINES, { table: 'share', columns: ['id'] }], {}],
    [[...LINES, { table: 'more' }], {}],
    [[...LINES.slice(0, 2), [{}, 'x']], {}],
    [[...LINES, 'text'], {}],
    [LINES, { rows: { organization: 2, share: 1 } }],
    [LINES, { rows: { organization: 1, share: 2, empty: 0 } }],
    [LINES, { rows: undefined }],
  ];
  for (const [lines, trailer] of wrong) {
    assert.throws(() => decode([bytesOf(lines, trailer)]), { code: 'backup-damaged' }, JSON.stringify(lines));
  }
});
