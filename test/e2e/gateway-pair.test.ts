// Two gateways with identities of their own over one control plane: each serves every share, and outlives the other.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { within } from '../support/deadline.ts';
import { PartProcess } from '../support/part-process.ts';
import { startPrivateService, type PrivateService } from '../support/private-service.ts';
import { portFor, portOf, type GatewayReady, type Separate } from '../support/separate.ts';
import { releaseWorld, sharedSeparate } from '../support/shared-world.ts';
import { SteadyRequests } from '../support/steady-requests.ts';
import { eventually, httpGet } from '../support/world.ts';

const SERVED_MS = 5_000;

let service: PrivateService;
let parts: Separate;
let second: PartProcess<GatewayReady>;

before(async () => {
  service = await startPrivateService();
  parts = await sharedSeparate();
  const file = (name: string): string => join(parts.folder, name);
  const jwt = file('second.jwt');
  await parts.run('fabric', 'gateway', 'create', 'second', '--out', jwt, '--ca', file('api-ca.pem'));
  second = new PartProcess<GatewayReady>({
    name: 'second gateway',
    readyFile: file('second.json'),
    env: { FRONTDOOR_LOG: 'info' },
    args: async (last) => [
      'gateway',
      '--data-dir',
      file('second'),
      '--enrollment-jwt',
      jwt,
      '--ready-file',
      file('second.json'),
      '--http-port',
      await portFor(last?.gatewayUrl),
    ],
  });
  await second.start();
});
after(async () => {
  await second?.stop();
  await releaseWorld();
  await service.close();
});

function ports(): number[] {
  return [parts.port, Number(portOf(second.ready.gatewayUrl))];
}

async function statusAt(port: number, name: string): Promise<number> {
  return (await httpGet(port, `${name}.share.localhost`, '/').catch(() => ({ status: 0 }))).status;
}

test('a share made once is served by both within five seconds, and gone from both after its end', async () => {
  await parts.share('public', `http://127.0.0.1:${service.port}`, 'both');
  for (const port of ports()) {
    await eventually(
      () => statusAt(port, 'both'),
      (status) => status === 200,
      SERVED_MS,
    );
  }
  await parts.run('agent', 'release', 'both', '--socket', parts.agentSocket);
  for (const port of ports()) {
    await eventually(
      () => statusAt(port, 'both'),
      (status) => status === 404,
      SERVED_MS,
    );
  }
});

test('a killed gateway fails no request of the other, and serves again when it is back', async () => {
  await parts.share('public', `http://127.0.0.1:${service.port}`, 'steady');
  const [first, other] = ports() as [number, number];
  for (const port of [first, other]) {
    await eventually(
      () => statusAt(port, 'steady'),
      (status) => status === 200,
    );
  }
  const load = new SteadyRequests({
    port: first,
    host: 'steady.share.localhost',
    body: 'private',
    keeping: 3,
    fresh: 3,
  });
  await second.kill();
  const from = load.answered;
  await eventually(
    () => Promise.resolve(load.answered - from),
    (answered) => answered > 300,
    30_000,
  );
  await second.start();
  await eventually(
    () => statusAt(other, 'steady'),
    (status) => status === 200,
  );
  await within('the load to end', load.stop());
  assert.deepEqual(load.failures, [], load.summary);
});
