import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logText } from './log-text.ts';
import { Secret } from '../secret.ts';

const at = { timeMs: new Date(2026, 10, 28, 9, 5, 7, 33).getTime(), level: 'warn' } as const;

test('a line of the log for people has local time, level, part, message and fields', () => {
  const fields = { part: 'router', router: 'berlin', attempts: 3, cause: 'no answer', none: undefined };
  assert.equal(
    logText({ ...at, message: 'the link is lost', fields }, false),
    '2026-11-28 09:05:07.033 WARN  router: the link is lost router=berlin attempts=3 cause="no answer"',
  );
  assert.equal(
    logText({ ...at, level: 'info', message: 'stopping', fields: {} }, false),
    '2026-11-28 09:05:07.033 INFO  stopping',
  );
});

test('a line stays one line, controls no terminal and shows no secret, whatever its fields are', () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  const fields = {
    part: 'x\n',
    peer: '\u001b[31mred\r\nINFO fake',
    secret: new Secret('hunter2'),
    list: ['a', { b: '\u009b1m' }],
    circle,
    big: 10n,
    err: new Error('first\nsecond'),
    long: 'y'.repeat(2_000),
  };
  const line = logText({ ...at, message: 'a\u001b[2Jb\u202e', fields }, false);
  assert.doesNotMatch(line, /[\p{Cc}\u202e]|hunter2/u);
  assert.ok(line.length < 1_000, line);
});

test('colours are in a line only where they are wanted', () => {
  const fields = { part: 'router', n: 1 };
  const colour = new RegExp(String.raw`\p{Cc}\[\d+m`, 'gu');
  const coloured = logText({ ...at, message: 'm', fields }, true);
  assert.match(coloured, colour);
  assert.equal(coloured.replaceAll(colour, ''), logText({ ...at, message: 'm', fields }, false));
});
