// Every file of a control plane's data directory, missing, empty, cut or of another installation: what a start does then.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { silentLog, type FrontdoorError } from '#base';
import '../pki/edge-api-key-fixture.ts';
import { recordingLog, type LogRecord } from '../../../test/support/recording-log.ts';
import { startControlPlane } from './control-plane.ts';

const STATES = ['missing', 'empty', 'half', 'foreign'] as const;
type State = (typeof STATES)[number];

/** Refused with that code and message, or made again: with that line in the log, or in silence. */
type Outcome = readonly [code: string, message: RegExp] | { readonly log: RegExp | undefined };

const MADE: Outcome = { log: undefined };
const MADE_WITH_WARNING: Outcome = { log: /holds no private key/ };
const NO_DATABASE: Outcome = ['no-database', /control\.db.*beside secrets\.key: restore it from a backup/];
const DAMAGED: Outcome = ['database-damaged', /control\.db .*restore the database from a backup/];
const KEY_FILE = (why: string): Outcome => [
  'key-file',
  new RegExp(`secrets\\.key.*${why}|${why}.*secrets\\.key`),
];

const TABLE: Readonly<Record<string, Readonly<Record<State, Outcome>>>> = {
  'control.db': { missing: NO_DATABASE, empty: NO_DATABASE, half: DAMAGED, foreign: DAMAGED },
  'secrets.key': {
    missing: KEY_FILE('restore the file'),
    empty: KEY_FILE('holds no key: restore'),
    half: KEY_FILE('(?:holds no key|has a line .*): restore'),
    foreign: KEY_FILE('put the key file back'),
  },
  'pki/control.key': {
    missing: MADE,
    empty: MADE_WITH_WARNING,
    half: MADE_WITH_WARNING,
    foreign: MADE_WITH_WARNING,
  },
  'pki/control.crt': { missing: MADE, empty: MADE, half: MADE, foreign: MADE },
  'pki/frontend.key': {
    missing: MADE,
    empty: MADE_WITH_WARNING,
    half: MADE_WITH_WARNING,
    foreign: MADE_WITH_WARNING,
  },
  'pki/frontend.crt': { missing: MADE, empty: MADE, half: MADE, foreign: MADE },
};

const folder = mkdtempSync(join(tmpdir(), 'frontdoor-state-'));
const [whole, other] = [join(folder, 'whole'), join(folder, 'other')];
after(() => rmSync(folder, { recursive: true }));

async function start(dataDir: string, log = silentLog): Promise<void> {
  const control = await startControlPlane({
    dataDir,
    listenHost: '127.0.0.1',
    advertiseHost: 'localhost',
    zone: 'share.localhost',
    apiPort: 0,
    edgeApiPort: 0,
    ctrlPort: 0,
    frontendUrls: () => [],
    log,
    hasConsole: false,
  });
  try {
    await control.frontendCertificate('share.localhost');
  } finally {
    await control.close();
  }
}

before(async () => {
  for (const dataDir of [whole, other]) {
    await start(dataDir);
  }
});

function damage(path: string, name: string, state: State): void {
  const content = readFileSync(path);
  rmSync(path);
  if (state === 'empty') writeFileSync(path, '', { mode: 0o600 });
  if (state === 'half') writeFileSync(path, content.subarray(0, content.length / 2), { mode: 0o600 });
  if (state !== 'foreign') return;
  if (name === 'secrets.key') cpSync(join(other, name), path);
  else if (name !== 'control.db') writeFileSync(path, 'of another program', { mode: 0o600 });
  else {
    const database = new DatabaseSync(path);
    database.exec('create table notes (text)');
    database.close();
  }
}

describe('a start of the control plane', () => {
  for (const [name, outcomes] of Object.entries(TABLE))
    for (const state of STATES) {
      const outcome = outcomes[state];
      const title = 'log' in outcome ? 'makes it again' : `is refused (${outcome[0]}), and changes nothing`;
      it(`with ${name} ${state} ${title}`, async () => {
        const dataDir = join(folder, 'cell');
        cpSync(whole, dataDir, { recursive: true });
        try {
          damage(join(dataDir, name), name, state);
          if ('log' in outcome) await startsAgain(dataDir, name, outcome.log);
          else await isRefused(dataDir, ...outcome);
        } finally {
          rmSync(dataDir, { recursive: true });
        }
      });
    }
});

async function startsAgain(dataDir: string, name: string, line: RegExp | undefined): Promise<void> {
  const records: LogRecord[] = [];
  await start(
    dataDir,
    recordingLog((record) => records.push(record)),
  );
  const text = JSON.stringify(records);
  if (line === undefined) assert.doesNotMatch(text, /holds no private key/);
  else assert.match(text, line);
  assert.match(readFileSync(join(dataDir, name), 'utf8'), /^-----BEGIN /);
}

async function isRefused(dataDir: string, code: string, message: RegExp): Promise<void> {
  const before = contentOf(dataDir);
  await assert.rejects(start(dataDir), (error: FrontdoorError) => {
    assert.equal(error.code, code);
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /DECODER|unsupported/);
    return true;
  });
  assert.deepEqual(contentOf(dataDir), before);
}

function contentOf(dataDir: string): Readonly<Record<string, string>> {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((file) =>
    file.isFile(),
  );
  const paths = files.map((file) => join(file.parentPath, file.name)).toSorted();
  // SQLite's own files come and go.
  const kept = paths.filter((path) => !/-(?:wal|shm)$/.test(path));
  return Object.fromEntries(kept.map((path) => [path, readFileSync(path).toString('base64')]));
}
