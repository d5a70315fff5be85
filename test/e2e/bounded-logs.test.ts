import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLog } from '#base';
import { checkLogs } from '../../bin/bounded-logs.ts';
import { openLog } from '../../bin/program-log.ts';

test('a log file that grew beyond its bound is emptied while its program writes to it, with one copy of what it had', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-logs-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { log } = openLog({ logLevel: 'info', logFormat: 'auto' }, join(folder, 'frontdoor.log'));
  appendFileSync(join(folder, 'agent.log'), 'short\n');
  appendFileSync(join(folder, 'notes.txt'), 'x'.repeat(5_000));
  const check = (): void => checkLogs({ folder, log: silentLog, maxBytes: 2_000 });
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  for (let round = 1; round <= 3; round += 1) {
    for (let n = 0; n < 30; n += 1) log.info({ round, n }, 'a line that takes some of the space');
    check();
    assert.equal(read('frontdoor.log'), '');
    assert.match(read('frontdoor.log.1'), new RegExp(`"round":${round},"n":29`));
  }
  log.info({}, 'the last line');
  check();
  assert.match(read('frontdoor.log'), /^\{[^]*the last line"\}\n$/);
  assert.equal(read('agent.log'), 'short\n');
  assert.deepEqual(readdirSync(folder).sort(), [
    'agent.log',
    'frontdoor.log',
    'frontdoor.log.1',
    'notes.txt',
  ]);
});
