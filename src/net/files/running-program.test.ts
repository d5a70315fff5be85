import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { findRunningProgram, noteRunningProgram, refuseSecondProgram } from './running-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'running-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'running.json');
const up = {
  program: 'up',
  version: '1',
  apiUrl: 'http://127.0.0.1:1',
  baseUrl: '',
  edgeApiUrl: '',
  consoleUrl: null,
  gatewayUrl: null,
};

test('the program of a directory is found until it ends or removes its note', async () => {
  assert.equal(findRunningProgram(folder), undefined);
  refuseSecondProgram(folder);
  const note = await noteRunningProgram(folder, up);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(findRunningProgram(folder)?.apiUrl, up.apiUrl);
  assert.throws(() => refuseSecondProgram(folder), {
    code: 'directory-in-use',
    message: new RegExp(`another frontdoor \\(up, process ${process.pid}\\) runs on ${folder}`),
  });
  const text = readFileSync(file, 'utf8');
  // A process that got the same id began at another time.
  writeFileSync(file, text.replace(/"start": "[^"]*"/, '"start": "other"'));
  assert.equal(findRunningProgram(folder), undefined);
  // The note of another program stays.
  writeFileSync(file, text.replace(/"pid": \d+/, '"pid": 1'));
  note.remove();
  assert.match(readFileSync(file, 'utf8'), /"pid": 1,/);
  writeFileSync(file, text);
  note.remove();
  assert.equal(findRunningProgram(folder), undefined);
});

test('a note that cannot be read counts as absent', () => {
  writeFileSync(file, '{"pid":');
  assert.equal(findRunningProgram(folder), undefined);
  refuseSecondProgram(folder);
});
