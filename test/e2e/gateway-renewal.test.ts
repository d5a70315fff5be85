// The workers of a gateway share its identity: when its certificate is renewed, all of them continue with the new one.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gatewayIdentity } from '../../bin/gateway-part.ts';
import { GatewayWorkers } from '../../bin/gateway-workers.ts';
import { loadIdentityFile, type IdentityFile } from '#net/files';
import { EdgeApiClient } from '#sdk';
import { silentLog } from '#base';
import { until } from '../support/deadline.ts';
import { startPrivateService, type PrivateService } from '../support/private-service.ts';
import type { Separate } from '../support/separate.ts';
import { releaseWorld, sharedSeparate } from '../support/shared-world.ts';
import { SteadyRequests } from '../support/steady-requests.ts';
import { httpGet } from '../support/world.ts';

/** Beyond two thirds of a gateway certificate's life. */
const AHEAD_MS = 25 * 86_400_000;

let service: PrivateService;
let parts: Separate;

before(async () => {
  service = await startPrivateService();
  parts = await sharedSeparate();
});
after(async () => {
  await releaseWorld();
  await service.close();
});

test('a renewed certificate is taken by every worker without a failed request, and the old one is refused from then on', async () => {
  const dataDir = join(parts.folder, 'workers-gateway');
  mkdirSync(dataDir);
  const jwt = join(parts.folder, 'workers.jwt');
  await parts.run(
    'fabric',
    'gateway',
    'create',
    'workers',
    '--out',
    jwt,
    '--ca',
    join(parts.folder, 'api-ca.pem'),
  );
  const former = await gatewayIdentity(dataDir, () => Promise.resolve(readFileSync(jwt, 'utf8').trim()));
  const identityFile = join(dataDir, 'identity.json');
  let aheadMs = 0;
  const workers = await GatewayWorkers.start({
    options: {
      dataDir,
      listen: '127.0.0.1',
      httpPort: 0,
      httpsPort: 0,
      workers: 2,
      readyListAge: 3_600,
      stopDelay: 0,
      logLevel: 'error',
      logFormat: 'json',
    },
    certificates: undefined,
    dataDir,
    identity: former,
    identityFile,
    version: '0.0.0-test',
    log: silentLog,
    clock: { nowMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() + aheadMs },
  });
  try {
    await parts.share('public', `http://127.0.0.1:${service.port}`, 'before');
    const load = await loadOf(workers.plainPort, 'before');
    assert.equal(await workers.checkIdentity(), false);
    aheadMs = AHEAD_MS;
    assert.equal(await workers.checkIdentity(), true);
    const renewed = await loadIdentityFile(identityFile);
    assert.notEqual(serialOf(renewed), serialOf(former));
    await until('the old one is refused', () => isRefused(former), Boolean);
    // The rest needs the control plane: the update with the new share, and circuits to it.
    await parts.share('public', `http://127.0.0.1:${service.port}`, 'after');
    const later = await loadOf(workers.plainPort, 'after');
    await until(
      'it continued all the time',
      () => load.answered,
      (answered) => answered > 100,
    );
    await Promise.all([load.stop(), later.stop()]);
    assert.deepEqual([load.failures, later.failures], [[], []], `${load.summary}; ${later.summary}`);
  } finally {
    await workers.close(0);
  }
  const listed = await parts.run(
    'fabric',
    'gateway',
    'list',
    '--json',
    '--ca',
    join(parts.folder, 'api-ca.pem'),
  );
  const ours = (JSON.parse(listed) as { name: string }[]).filter(({ name }) => name === 'workers');
  assert.equal(ours.length, 1, 'one gateway, for any number of workers');
});

/** Once both workers serve the share: each of many new connections finds it. */
async function loadOf(port: number, name: string): Promise<SteadyRequests> {
  const host = `${name}.share.localhost`;
  const ask = (): Promise<number[]> =>
    Promise.all(
      Array.from(
        { length: 24 },
        async () => (await httpGet(port, host, '/').catch(() => ({ status: 0 }))).status,
      ),
    );
  await until('both workers serve it', ask, (found) => found.every((status) => status === 200));
  const load = new SteadyRequests({ port, host, body: 'private', keeping: 2, fresh: 4 });
  await until(
    'there are answers',
    () => load.answered,
    (answered) => answered > 50,
  );
  return load;
}

function serialOf({ certPem }: IdentityFile): string {
  return new X509Certificate(certPem).serialNumber;
}

async function isRefused(identity: IdentityFile): Promise<boolean> {
  const client = new EdgeApiClient({ identity, log: silentLog });
  try {
    await client.session();
    return false;
  } catch {
    return true;
  } finally {
    await client.close();
  }
}
