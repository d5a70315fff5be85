import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { silentLog } from '#base';
import { recordingLog } from '../../../../test/support/recording-log.ts';
import { machineIdOf, MachineRecord } from './machine-record.ts';

function recordFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-machine-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, 'router.machine');
}

test('what is noted is known to the next run, and the file is gone when all is changed back', async (t) => {
  const path = recordFile(t);
  const record = await MachineRecord.load(path, silentLog);
  assert.deepEqual(record.ids, []);
  const ids = ['0', 'host'].map((part) => machineIdOf('router-1', part));
  await Promise.all(ids.map((id) => record.add(id)));
  const next = await MachineRecord.load(path, silentLog);
  assert.deepEqual(next.ids, ids);
  for (const id of ids) await next.delete(id);
  assert.equal(existsSync(path), false);
});

test('a file that cannot be read is an error in the log, and does not prevent the start', async (t) => {
  const path = recordFile(t);
  writeFileSync(path, '{"v":1,"ids":');
  const errors: unknown[] = [];
  const log = recordingLog(({ level, fields }) => void (level === 'error' && errors.push(fields['err'])));
  assert.deepEqual((await MachineRecord.load(path, log)).ids, []);
  assert.match(String(errors), /router\.machine: the record of changes on this machine cannot be used/);
});
