import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runCli } from '../cli-fixture.ts';
import { LogFiles, type FoundLine } from './log-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'logs-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const line = (second: number, level: number, msg: string, more: object = {}): string =>
  `${JSON.stringify({ level, time: `2030-01-01T00:00:0${second}.000Z`, ...more, msg })}\n`;

function written(name: string): string {
  const dataDir = join(folder, name);
  mkdirSync(join(dataDir, 'logs'), { recursive: true });
  const router = { part: 'router', router: 'b\u001b[2Jerlin' };
  writeFileSync(join(dataDir, 'logs', 'frontdoor.log'), line(1, 30, 'one', router) + line(3, 50, 'three'));
  writeFileSync(join(dataDir, 'logs', 'agent.log'), `${line(2, 40, 'two')}Error: the last words\n`);
  return dataDir;
}

test('logs prints the files of a data directory as one log by time, as text or as they are', async () => {
  const dataDir = written('some');
  const { out, code } = await runCli(['logs', '--data-dir', dataDir]);
  assert.equal(code, 0);
  assert.deepEqual(
    out.split('\n').map((text) => text.replace(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} /, '')),
    [
      'INFO  router: one router=b\uFFFD[2Jerlin',
      'WARN  agent: two',
      'agent: Error: the last words',
      'ERROR frontdoor: three',
      '',
    ],
  );
  const raw = await runCli(['logs', '--data-dir', dataDir, '--json', '--lines', '1']);
  assert.equal(raw.out, line(3, 50, 'three'));
  const severe = await runCli(['logs', '--data-dir', dataDir, '--level', 'warn', '--lines', '3']);
  assert.match(severe.out, /two\n.*last words\n.*three\n$/);
});

test('logs of a directory without log files fails with the places where logs are', async () => {
  const { err, code } = await runCli(['logs', '--data-dir', join(folder, 'none')]);
  assert.match(err, /has no log files: .*journalctl/);
  assert.equal(code, 5);
});

test('logs follows whole lines that are added, also to a file that was emptied', async () => {
  const dataDir = written('followed');
  const path = join(dataDir, 'logs', 'agent.log');
  const files = await LogFiles.open(dataDir);
  await files.last(0);
  const stop = new AbortController();
  const seen: string[] = [];
  const onLines = (lines: readonly FoundLine[]): void => {
    for (const { text } of lines) {
      seen.push(text);
      if (seen.length === 1) {
        truncateSync(path, 0);
        appendFileSync(path, 'third\n');
      }
      if (seen.length === 2) stop.abort();
    }
  };
  appendFileSync(path, 'first and sec');
  const followed = files.follow(onLines, stop.signal);
  appendFileSync(path, 'ond\n');
  await followed;
  assert.deepEqual(seen, ['first and second', 'third']);
});
