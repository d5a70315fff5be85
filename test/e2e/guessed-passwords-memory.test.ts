// A control plane in a control group of 512 MiB, and passwords that are guessed from many addresses at once.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ControlGroup, residentBytesOf } from '../support/control-group.ts';
import { PartProcess } from '../support/part-process.ts';
import type { ControlReady } from '../support/separate.ts';

const MIB = 1024 * 1024;
/** Each of the four threads that compute hashes keeps 30 MiB where the memory of a hash stays with it. */
const MAX_GROWTH = 32 * MIB;
const [ADDRESSES, ROUNDS] = [60, 3];

const group = ControlGroup.open('frontdoor-guesses', 512 * MIB);
const folder = mkdtempSync(join(tmpdir(), 'frontdoor-guesses-'));
const readyFile = join(folder, 'control.json');
const control = new PartProcess<ControlReady>({
  name: 'control',
  group,
  readyFile,
  args: () => [
    'control',
    '--data-dir',
    join(folder, 'data'),
    '--ready-file',
    readyFile,
    '--api-port',
    '0',
    '--edge-api-port',
    '0',
    '--ctrl-port',
    '0',
  ],
});
before(() => control.start());
after(async () => {
  await control.stop();
  await group.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Resolves to the status of the answer. */
function guess(agent: Agent, localAddress: string, name: string): Promise<number> {
  const { apiUrl } = control.ready;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const headers = { origin: apiUrl, 'content-type': 'application/x-www-form-urlencoded' };
  const options = { method: 'POST', agent, localAddress, headers };
  request(`${apiUrl}/console/log-in`, options, (answer) => {
    answer.resume().once('end', () => resolve(answer.statusCode!));
  })
    .once('error', reject)
    .end(`name=${name}%40example.com&password=plum+giraffe+engine+48`);
  return promise;
}

test('guesses from sixty addresses are judged, and leave no memory of their hashes in the control plane', async (t) => {
  const agent = new Agent({ keepAlive: true });
  const baseBytes = residentBytesOf(control.pid);
  for (let round = 0; round < ROUNDS; round += 1) {
    const statuses = await Promise.all(
      Array.from({ length: ADDRESSES }, (_, at) => guess(agent, `127.1.${at}.1`, `name-${round}-${at}`)),
    );
    assert.deepEqual(new Set(statuses), new Set([403]));
  }
  agent.destroy();
  const grown = residentBytesOf(control.pid) - baseBytes;
  t.diagnostic(`it grew by ${Math.round(grown / MIB)} MiB from ${Math.round(baseBytes / MIB)} MiB`);
  assert.ok(grown < MAX_GROWTH, `${Math.round(grown / MIB)} MiB`);
  assert.ok(control.isRunning && !group.isOverrun());
});
