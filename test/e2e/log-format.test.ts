// The log of a program on a real terminal, which `script` opens, and beside one.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
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

/** What a program logs. */
function logged({ format, isTerminal, env = {} }: Place): string {
  const text = `const { openLog } = await import(${JSON.stringify(LOG)});
    const { log } = openLog({ logLevel: 'info', logFormat: ${JSON.stringify(format)} });
    log.debug({}, 'nothing');
    log.child({ part: 'x' }).info({ n: 1 }, 'hello');`;
  const words = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', text];
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
