// A tunnel router in mode tproxy at our control plane, in a network namespace: `curl` reaches a private share of our agent by its
// name, which the router answers, while the share is granted to the router.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { callCommand } from '../support/command-line.ts';
import { until } from '../support/deadline.ts';
import { freePort } from '../support/free-port.ts';
import { routerFile } from '../support/mesh-router-file.ts';
import { curlOf, isInside, runInside } from '../support/named-namespace.ts';
import { namespaceSkip } from '../support/network-namespace.ts';
import { PartProcess } from '../support/part-process.ts';
import { portOf } from '../support/separate.ts';
import { openWorld, type World } from '../support/world.ts';

const skip = namespaceSkip('nft', 'curl');
const WAIT_MS = 60_000;
const URL = 'http://reports.ziti/name';

if (isInside()) testInside();
else
  test(
    'a private share that is granted to a router is reached by its name while the grant lasts',
    { skip },
    (t) => runInside(t, import.meta.filename),
  );

function testInside(): void {
  let world: World;
  let web: Server;
  let router: PartProcess;
  let routerId = '';

  before(async () => {
    web = createServer((request, response) => response.end(`at ${request.headers.host}${request.url}`));
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    world = await openWorld();
    const { dataDir: folder, credentials, up } = world;
    const { frontdoorId, accountId, apiToken } = credentials;
    const [edgePort, linkPort] = [await freePort(), await freePort()];
    const address = `tls:127.0.0.1:${edgePort}`;
    const shape = {
      controllerPort: Number(portOf(up.control.ctrlAddress)),
      linkListener: { port: linkPort, groups: ['default'] },
      dialGroups: ['default'],
      edgePort,
      sections: {
        listeners: [
          { binding: 'edge', address, options: { advertise: `localhost:${edgePort}` } },
          { binding: 'tunnel', options: { mode: 'tproxy' } },
        ],
      },
    };
    const [file, jwt, readyFile] = ['router.yml', 'router.jwt', 'router.json'].map((name) =>
      join(folder, name),
    );
    writeFileSync(file!, routerFile(folder, shape));
    const made = await callCommand(
      [
        'fabric',
        'router',
        'create',
        'site',
        '--tunneler',
        '--role-attribute',
        frontdoorId,
        '--out',
        jwt!,
        '--json',
      ],
      {
        FRONTDOOR_API_URL: up.control.apiUrl,
        FRONTDOOR_ACCOUNT_ID: accountId,
        FRONTDOOR_API_TOKEN: apiToken,
      },
    );
    routerId = (JSON.parse(made) as { id: string }).id;
    await callCommand(['router', 'enroll', file!, '--jwt', jwt!]);
    const agent = await world.startAgent('agent');
    const target = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    await agent.share(target, { name: 'reports', mode: 'private', grants: [routerId] });
    router = new PartProcess({
      name: 'site',
      readyFile: readyFile!,
      args: () => ['router', 'run', file!, '--ready-file', readyFile!],
    });
    await router.start();
  });
  afterEach((context) => {
    if ('passed' in context && context.passed === false) console.error(router?.output);
  });
  after(async () => {
    await router?.stop();
    await world?.close();
    web?.close();
  });

  const answer = (): Promise<string> => curlOf(URL).catch(() => '');

  test('curl reaches a share that is granted to the router', async () => {
    await until(URL, answer, (text) => text === 'at reports.ziti/name', WAIT_MS);
  });

  test('the router intercepts the share until the grant ends, and again with the next grant', async () => {
    const grant = async (...grants: readonly string[]): Promise<void> => {
      const { status } = await world.call('PATCH', '/shares/reports', { grants });
      assert.equal(status, 200);
    };
    await grant();
    await until('the end', answer, (text) => text === '', WAIT_MS);
    await grant(routerId);
    await until(URL, answer, (text) => text === 'at reports.ziti/name', WAIT_MS);
  });
}
