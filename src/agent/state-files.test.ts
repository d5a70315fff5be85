// Every JSON file that an agent keeps, missing, empty, cut or of another program: what a start does then.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Log } from '#base';
import { CONTROL_PLANES_FILE, KeptControlPlanes } from '#sdk';
import { recordingLog, type LogRecord } from '../../test/support/recording-log.ts';
import { DAMAGED_STATES } from '../../test/support/state-file-states.ts';
import { AccessRegistry } from './access/access-registry.ts';
import { acquireAgentLock, AGENT_LOCK_FILE } from './agent-lock.ts';
import { FileShares } from './file-shares.ts';
import { OwnTargets } from './own-targets.ts';

const folder = mkdtempSync(join(tmpdir(), 'frontdoor-agent-state-'));
after(() => rmSync(folder, { recursive: true }));
const dial = (): Promise<never> => Promise.reject(new Error('nobody dials'));

interface Row {
  /** Loads the file and writes it, as the agent does. */
  readonly write: (path: string, log: Log) => Promise<void>;
  readonly consequence: RegExp;
}

const setTarget = async (path: string, log: Log): Promise<void> =>
  OwnTargets.load(path, log).set('app', 'http://127.0.0.1:1');

async function openAccess(path: string, log: Log): Promise<void> {
  const registry = new AccessRegistry({ path, dial, log, retryMs: 10 });
  await registry.restore();
  await registry.open({ share: 'db', host: '127.0.0.1', port: 0, protocol: 'tcp' });
  registry.close();
}

async function keepControlPlanes(path: string, log: Log): Promise<void> {
  await (await KeptControlPlanes.load(path, log)).save('https://a', ['https://a', 'https://b']);
}

const TABLE: Readonly<Record<string, Row>> = {
  'agent-shares.json': {
    write: setTarget,
    consequence: /cannot be read; share refused targets again/,
  },
  'agent-file-shares.json': {
    write: async (path, log) => FileShares.load(path, log).list(['app']),
    consequence: /cannot be read; release the shares that the file no longer has/,
  },
  'agent-accesses.json': {
    write: openAccess,
    consequence: /cannot be read; open them again/,
  },
  [CONTROL_PLANES_FILE]: {
    write: keepControlPlanes,
    consequence: /the kept list of control planes is not used/,
  },
};

describe('a start of an agent', () => {
  for (const [name, { write, consequence }] of Object.entries(TABLE))
    for (const [state, contentOf] of Object.entries(DAMAGED_STATES))
      it(`with ${name} ${state} continues without it, and loses nothing in silence`, async () => {
        const path = join(folder, `${state}-${name}`);
        const records: LogRecord[] = [];
        const log = recordingLog((record) => records.push(record));
        await write(path, log);
        const about = () => records.filter(({ fields }) => fields['file'] === path);
        assert.deepEqual(about(), []);
        const content = contentOf(readFileSync(path, 'utf8'));
        rmSync(path);
        if (content !== undefined) writeFileSync(path, content, { mode: 0o600 });
        await write(path, log);
        assert.equal(existsSync(path), true);
        if (content === undefined) return assert.deepEqual(about(), []);
        assert.equal(about().length, 1);
        assert.match(about()[0]!.message, consequence);
        assert.equal(readFileSync(`${path}.unreadable`, 'utf8'), content);
      });

  for (const [state, contentOf] of Object.entries(DAMAGED_STATES))
    it(`with ${AGENT_LOCK_FILE} ${state} takes the directory`, () => {
      const path = join(folder, AGENT_LOCK_FILE);
      acquireAgentLock(folder, 'socket', '1');
      const content = contentOf(readFileSync(path, 'utf8'));
      rmSync(path);
      if (content !== undefined) writeFileSync(path, content);
      const lock = acquireAgentLock(folder, 'socket', '1');
      assert.equal(lock.isHeld(), true);
      lock.release();
    });
});
