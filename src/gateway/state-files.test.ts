// Every JSON file that a gateway keeps, missing, empty, cut or of another program: what a start does then.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { systemClock, type Log } from '#base';
import { recordingLog, type LogRecord } from '../../test/support/recording-log.ts';
import { DAMAGED_STATES } from '../../test/support/state-file-states.ts';
import { IssueState } from './acme/issue-state.ts';
import { KeptShareList } from './shares/kept-share-list.ts';

const folder = mkdtempSync(join(tmpdir(), 'frontdoor-gateway-state-'));
after(() => rmSync(folder, { recursive: true }));

async function keepShares(file: string, log: Log): Promise<void> {
  const list = new KeptShareList({
    file,
    log,
    delayMs: 0,
    current: () => ({
      position: { version: 1, epoch: 'e' },
      shares: [],
      access: { providers: [], zones: [], zoneOwners: [] },
    }),
  });
  await list.load();
  list.save();
  list.close();
  await list.written;
}

async function keepOrders(file: string, log: Log): Promise<void> {
  const options = { file, directoryUrl: 'https://ca.example', clock: systemClock, log };
  const state = await IssueState.load(options, []);
  state.noteIssued({ name: 'a.example', organizationId: 'o', isCustom: false, isAlone: false }, false);
  await state.written;
}

const TABLE = {
  'shares.json': {
    write: keepShares,
    consequence: /kept share list is not usable; this gateway starts without one/,
  },
  'state.json': { write: keepOrders, consequence: /the state of automatic certificates is lost/ },
};

describe('a start of a gateway', () => {
  for (const [name, { write, consequence }] of Object.entries(TABLE))
    for (const [state, contentOf] of Object.entries(DAMAGED_STATES))
      it(`with ${name} ${state} continues without it, and loses nothing in silence`, async () => {
        const path = join(folder, `${state}-${name}`);
        const records: LogRecord[] = [];
        const log = recordingLog((record) => records.push(record));
        await write(path, log);
        const content = contentOf(readFileSync(path, 'utf8'));
        rmSync(path);
        if (content !== undefined) writeFileSync(path, content, { mode: 0o600 });
        assert.equal(records.length, 0);
        await write(path, log);
        if (content === undefined) return assert.equal(records.length, 0);
        assert.deepEqual([records.length, records[0]?.fields['file']], [1, path]);
        assert.match(records[0]!.message, consequence);
        assert.equal(readFileSync(`${path}.unreadable`, 'utf8'), content);
      });
});
