// The log of a program on a real terminal, which `script` opens, and beside one.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const LOG = fileURLToPath(new URL('../../bin/program-log.ts', import.meta.url));
const JSON_LINE = /^\{"level":30,"time":"[^"]+","part":"x","n":1,"msg":"hello"\}\r?\n$/;
const TEXT_LINE = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} INFO  x: hello n=1\r?\n$/;

interface Place {
  readonly format: string;
  readonly isTerminal: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** The words of a Node that runs `lines` with a log. */
function loggingWords(format: string, lines: string): string[] {
  const text = `const { openLog } = await import(${JSON.stringify(LOG)});
    const { log } = openLog({ logLevel: 'info', logFormat: ${JSON.stringify(format)} });
    ${lines}`;
  return ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', text];
}

/** What a program logs. */
function logged({ format, isTerminal, env = {} }: Place): string {
  const words = loggingWords(
    format,
    "log.debug({}, 'nothing'); log.child({ part: 'x' }).info({ n: 1 }, 'hello');",
  );
  const options = { encoding: 'utf8', env: { PATH: process.env['PATH'], TERM: 'xterm', ...env } } as const;
  if (!isTerminal) return spawnSync(process.execPath, words, options).stderr;
  const command = [process.execPath, ...words].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  return spawnSync('script', ['--quiet', '--return', '--command', command, '/dev/null'], options).stdout;
}

test('a log is text on a terminal and JSON elsewhere, unless an option says otherwise', () => {
  const plain = { NO_COLOR: '1' };
  assert.match(logged({ format: 'auto', isTerminal: true, env: plain }), TEXT_LINE);
  assert.match(logged({ format: 'json', isTerminal: true }), JSON_LINE);
  assert.match(logged({ format: 'auto', isTerminal: false }), JSON_LINE);
  assert.match(logged({ format: 'text', isTerminal: false }), TEXT_LINE);
});

test('a log has colours on a terminal that can show them, unless NO_COLOR is set', () => {
  assert.match(logged({ format: 'auto', isTerminal: true }), /\p{Cc}\[2m/u);
  assert.match(logged({ format: 'auto', isTerminal: true, env: { TERM: 'dumb' } }), TEXT_LINE);
});

test('lines to the journal of systemd begin with their priority, and those to anything else do not', () => {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-journal-'));
  try {
    const linesOf = (format: string, isJournal: boolean): string[] => {
      const path = join(folder, `${format}-${isJournal}`);
      const file = openSync(path, 'w');
      const { dev, ino } = fstatSync(file);
      const words = loggingWords(format, "log.info({}, 'a'); log.warn({}, 'b'); log.error({}, 'c');");
      const env = { PATH: process.env['PATH'], JOURNAL_STREAM: isJournal ? `${dev}:${ino}` : '1:2' };
      spawnSync(process.execPath, words, { env, stdio: ['ignore', 'ignore', file] });
      closeSync(file);
      return readFileSync(path, 'utf8').trim().split('\n');
    };
    for (const format of ['json', 'text']) {
      const priorities = linesOf(format, true).map((line) => line.slice(0, 3));
      assert.deepEqual(priorities, ['<6>', '<4>', '<3>'], format);
      assert.ok(
        linesOf(format, false).every((line) => !line.startsWith('<')),
        format,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
