// Pages of the binary are unmapped in this process.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { cleanMappings, releaseBinaryPages } from '../../bin/binary-pages.ts';

const NODE = '/opt/frontdoor/bin/node';

function block(head: string, dirtyKb: number): string {
  return `${head}\nSize: 64 kB\nRss: 64 kB\nPrivate_Dirty: ${dirtyKb} kB\nAnonymous: ${dirtyKb} kB\nSwap: 0 kB\nVmFlags: rd mr\n`;
}

test('only mappings of the file that nobody has written to, or may write to, are found', () => {
  const smaps = [
    block(`00400000-0082e000 r--p 00000000 fe:00 53 ${NODE}`, 0),
    block(`0082e000-03489000 r-xp 0042e000 fe:00 53 ${NODE}`, 0),
    // The loader has written addresses here before it made the pages read-only.
    block(`072a7000-072dc000 r--p 06ea7000 fe:00 53 ${NODE}`, 24),
    block(`072dc000-07308000 rw-p 06edc000 fe:00 53 ${NODE}`, 0),
    block(`7f0000000000-7f0000001000 r--s 00000000 fe:00 53 ${NODE}`, 0),
    block('7f1000000000-7f1000001000 r-xp 00000000 fe:00 54 /usr/lib/libc.so.6', 0),
    block('7f2000000000-7f2000001000 r--p 00000000 00:00 0', 0),
  ].join('');
  assert.deepEqual(cleanMappings(smaps, NODE), [
    { start: 0x400000n, bytes: 0x42e000n },
    { start: 0x82e000n, bytes: 0x2c5b000n },
  ]);
});

test(
  'a program that has released its pages has fewer of them, and runs on',
  { skip: process.platform !== 'linux' },
  () => {
    const residentKb = (): number => {
      const blocks = readFileSync('/proc/self/smaps', 'utf8').split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m);
      const own = blocks.filter((text) => text.split('\n', 1)[0]!.endsWith(` ${process.execPath}`));
      return own.reduce((sum, text) => sum + Number(/^Rss: +(\d+)/m.exec(text)?.[1]), 0);
    };
    const before = residentKb();
    releaseBinaryPages();
    const after = residentKb();
    assert.ok(after < 0.6 * before, `${before} kB, then ${after}`);
    assert.equal(JSON.stringify({ runs: [1, 2].map((n) => n * 2) }), '{"runs":[2,4]}');
  },
);
