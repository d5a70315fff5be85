// A router in a control group of 512 MiB, and enrolled identities that announce more than it has.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ControlGroup } from '../support/control-group.ts';
import { until } from '../support/deadline.ts';
import { GreedySdk } from '../support/greedy-sdk.ts';
import { runCommand } from '../support/part-process.ts';
import { startPrivateService, type PrivateService } from '../support/private-service.ts';
import { startSeparate, type Separate } from '../support/separate.ts';
import { httpGet } from '../support/world.ts';

const MIB = 1024 * 1024;
const LIMIT_BYTES = 512 * MIB;
/** The share of unfinished frames is 72 MiB; the rest are read buffers, TLS and garbage. */
const MAX_GROWTH = 192 * MIB;
/** Each identity alone is held to 36 MiB. Together they announce 960 MiB. */
const IDENTITIES = 5;
const CHANNELS = 12;
const HOST = 'app.share.localhost';

const group = ControlGroup.open('frontdoor-edge-memory', LIMIT_BYTES);
let service: PrivateService | undefined;
let parts: Separate | undefined;
const greedy: GreedySdk[] = [];

before(async () => {
  if (!group.isEnforced) return;
  service = await startPrivateService();
  parts = await startSeparate({ command: runCommand, routerGroup: group });
  await parts.share('public', `http://127.0.0.1:${service.port}`, 'app');
});
after(async () => {
  for (const sdk of greedy) await sdk.close();
  await parts?.stop();
  await service?.close();
  await group.close();
});

async function enroll({ call, control, router, folder }: Separate): Promise<GreedySdk> {
  const { json } = await call('POST', '/agents/enrollments');
  return GreedySdk.enroll({
    apiUrl: control.ready.apiUrl,
    edgePort: router.ready.edgePort,
    code: (json as { enrollmentCode: string }).enrollmentCode,
    ca: readFileSync(join(folder, 'api-ca.pem'), 'utf8'),
  });
}

test('sixty channels that announce 16 MiB each and never finish leave a router of 512 MiB alive, and others served', async (t) => {
  if (parts === undefined) {
    t.skip('needs permission to make control groups');
    return;
  }
  const { port, router } = parts;
  const statusOfShare = async (): Promise<number> =>
    (await httpGet(port, HOST, '/').catch(() => ({ status: 0 }))).status;
  await until('the share', statusOfShare, (status) => status === 200);
  for (let index = 0; index < IDENTITIES; index += 1) greedy.push(await enroll(parts));
  const baseBytes = group.residentBytes();
  group.resetPeak();
  const peers = [];
  for (const sdk of greedy)
    for (let index = 0; index < CHANNELS; index += 1) peers.push({ sdk, peer: (await sdk.openChannel())! });
  assert.ok(peers.every(({ peer }) => peer !== undefined));
  const sent = Promise.all(peers.map(({ sdk, peer }) => sdk.sendUnfinished(peer)));
  assert.equal(await statusOfShare(), 200, 'while they send');
  await sent;
  assert.equal(await statusOfShare(), 200, 'after they have sent');
  const grown = group.peakBytes - baseBytes;
  t.diagnostic(`the router grew by ${Math.round(grown / MIB)} MiB from ${Math.round(baseBytes / MIB)} MiB`);
  assert.ok(grown < MAX_GROWTH, `${Math.round(grown / MIB)} MiB`);
  assert.ok(router.isRunning && !group.isOverrun());
});
