/** Gives all control planes of this process the same key of the edge API, which is made once for a test run. */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { edgeApiKey } from './shared-key-store.ts';

/** The folder of the test run; a file that is run by itself has none, and makes a key of its own. */
const FOLDER = process.env['FRONTDOOR_TEST_FOLDER'];
const makeKey = edgeApiKey.make;
let kept: KeyObject | undefined;

edgeApiKey.make = () => (kept ??= keptKey());

function keptKey(): KeyObject {
  if (FOLDER === undefined) return makeKey();
  const file = join(FOLDER, 'edge-api.key');
  if (existsSync(file)) return createPrivateKey(readFileSync(file));
  const key = makeKey();
  const own = `${file}.${process.pid}`;
  writeFileSync(own, key.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  renameSync(own, file);
  return key;
}
