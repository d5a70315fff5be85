// OpenZiti's Go SDK, hosting and dialing, while parts of our product are killed and come back. ZITI_BIN names the
// binary; without it the test is skipped.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/deadline.ts';
import { startPrivateService, type PrivateService } from '../../support/private-service.ts';
import { startSeparate, type Separate } from '../../support/separate.ts';
import { httpGet, type HttpAnswer } from '../../support/world.ts';
import { zitiBinary } from '../../support/ziti-command.ts';
import { enrollGo, startTunneler, type Tunneler } from './tunneler.ts';

const BINARY = zitiBinary() ?? '';
const skip = BINARY === '' ? 'ZITI_BIN is not set' : false;
const BACK_MS = 30_000;

let parts: Separate;
let service: PrivateService;
let host: Tunneler;
let proxy: Tunneler;
let proxyPort: number;

before(async () => {
  if (skip !== false) return;
  parts = await startSeparate();
  service = await startPrivateService();
  const folder = join(parts.folder, 'go');
  mkdirSync(folder);
  const keys = ['--keyAlg', 'EC'];
  const hosting = await enrollGo(parts, { binary: BINARY, folder, name: 'host' }, ...keys);
  const dialing = await enrollGo(parts, { binary: BINARY, folder, name: 'dialer' }, ...keys);
  for (const share of [
    { name: 'open', shareMode: 'public' },
    { name: 'closed', shareMode: 'private', grants: [dialing.environmentId] },
  ]) {
    const target = `http://127.0.0.1:${service.port}`;
    const { environmentId } = hosting;
    const body = { environmentId, backendMode: 'proxy', target, ...share };
    assert.equal((await parts.call('POST', '/shares', body)).status, 201);
  }
  proxyPort = await freePort();
  host = startTunneler(BINARY, folder, hosting.file, 'host');
  proxy = startTunneler(BINARY, folder, dialing.file, 'proxy', `closed:${proxyPort}`);
  await untilBoth('a first answer');
});
after(async () => {
  await host?.stop();
  await proxy?.stop();
  await parts?.stop();
  await service?.close();
});

/** What the Go client hosts answers: to a client of our gateway, and to the other Go client. */
async function untilBoth(what: string): Promise<void> {
  const paths: [string, () => Promise<HttpAnswer>][] = [
    ['through our gateway', () => httpGet(parts.port, 'open.share.localhost', '/')],
    ['through ziti tunnel proxy', () => httpGet(proxyPort, 'closed', '/')],
  ];
  await Promise.all(
    paths.map(([way, get]) => until(`${what} ${way}`, get, ({ status }) => status === 200, BACK_MS)),
  );
}

for (const name of ['router', 'control'] as const) {
  test(
    `the Go clients host and dial again after the ${name} was killed and came back`,
    { skip },
    async () => {
      await parts[name].kill();
      await parts[name].start();
      await untilBoth('an answer again');
      assert.deepEqual([host.isRunning, proxy.isRunning], [true, true]);
    },
  );
}
