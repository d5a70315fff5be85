import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { ControlGroup } from './control-group.ts';
import { within } from './deadline.ts';

const MIB = 1_048_576;

/** A program that keeps so much, and then waits for the end of its standard input. */
function keep(mebibytes: number): string {
  return `
    const kept = [];
    for (let i = 0; i < ${mebibytes}; i += 1) kept.push(Buffer.alloc(${MIB}, 1));
    console.log('kept');
    process.stdin.resume().on('end', () => process.exit(kept.length > 0 ? 0 : 1));`;
}

test('a process that needs more than its group allows is found out, and one that needs less runs on', async (t) => {
  for (const [mebibytes, isTooMuch] of [
    [10, false],
    [400, true],
  ] as const) {
    const group = ControlGroup.open('frontdoor-test', 200 * MIB);
    t.after(() => group.close());
    const { file, args } = group.command(process.execPath, ['-e', keep(mebibytes)]);
    const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    group.watch(child.pid!);
    const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    if (!isTooMuch || !group.isEnforced) await within('the memory', once(child.stdout, 'data'));
    if (!isTooMuch) assert.ok(group.residentBytes() > mebibytes * MIB);
    child.stdin.on('error', () => {});
    if (!isTooMuch || !group.isEnforced) child.stdin.end();
    const [status] = await within('the end', ended);
    assert.equal(group.isOverrun(), isTooMuch);
    assert.equal(status === 0, !(isTooMuch && group.isEnforced));
    await group.close();
  }
});
