// A secrets.key that another program provides, as Kubernetes mounts a Secret: nothing can replace the file, and its folder can be written.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { namespaceSkip } from '../../../test/support/network-namespace.ts';
import { KEY_FILE_NAME, loadSecrets } from './key-file.ts';

const run = promisify(execFile);

/** Rotates, and looks until former keys would be removed. Prints the state with the keys of the control plane, or the error. */
const ROTATION = `
  import { ManualClock, silentLog } from '#base';
  import { openStore } from '${new URL('../store/mod.ts', import.meta.url).href}';
  import { loadSecrets } from '${new URL('key-file.ts', import.meta.url).href}';
  import { SealingKeys } from '${new URL('sealing-keys.ts', import.meta.url).href}';
  const [dataDir] = process.argv.slice(-1);
  const store = await openStore({ path: 'memory' });
  const clock = new ManualClock(Date.UTC(2026, 10, 28));
  const secrets = await loadSecrets(dataDir);
  const keys = new SealingKeys({ store, secrets, dataDir, name: 'a', clock, log: silentLog });
  await keys.look();
  try {
    const keyId = await keys.prepare();
    await store.transaction((trx) => keys.begin(trx, keyId));
    await keys.look();
    clock.advance(3_600_000);
    await keys.look();
    await keys.look();
    const { state } = await keys.state();
    console.log(JSON.stringify({ state, keyIds: secrets.keyIds, sealingId: secrets.sealingId }));
  } catch ({ kind, code, message }) {
    console.log(JSON.stringify({ kind, code, message }));
  }
  await keys.close();
  await store.close();
`;

test(
  'a key file that is mounted is refused with the steps, and rotates once the new key was added to it',
  { skip: namespaceSkip('mount') },
  async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'frontdoor-mounted-'));
    t.after(() => rmSync(dataDir, { recursive: true, force: true }));
    const file = join(dataDir, KEY_FILE_NAME);
    const { sealingId: first } = await loadSecrets(dataDir);
    const rotate = async (): Promise<Readonly<Record<string, unknown>>> => {
      const mounted = 'mount --bind -o ro "$1" "$1" && shift && exec "$@"';
      const node = [process.execPath, '--input-type=module', '--eval', ROTATION, dataDir];
      const { stdout } = await run('unshare', ['--mount', 'sh', '-c', mounted, 'sh', file, ...node], {
        cwd: import.meta.dirname,
      });
      return JSON.parse(stdout) as Readonly<Record<string, unknown>>;
    };
    const before = readFileSync(file, 'utf8');
    const { kind, code, message } = await rotate();
    assert.deepEqual([kind, code], ['conflict', 'key-file-read-only']);
    assert.match(
      String(message),
      /secrets\.key cannot be replaced .* add the line "next ID KEY" to the Secret/,
    );
    assert.deepEqual([readFileSync(file, 'utf8'), readdirSync(dataDir)], [before, [KEY_FILE_NAME]]);
    appendFileSync(file, `next 0a1b2c3d ${Buffer.alloc(32, 7).toString('base64')}\n`);
    const rotated = await rotate();
    assert.deepEqual(rotated, { state: 'done', keyIds: [first, '0a1b2c3d'], sealingId: '0a1b2c3d' });
  },
);
