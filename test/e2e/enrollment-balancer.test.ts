// Two control planes over one PostgreSQL, known to everyone by the name of a load balancer that leads each connection to
// the next of them: a token of one is fetched, proven and exchanged at either.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { silentLog } from '#base';
import { JsonClient } from '#net/http';
import { EdgeApiClient, enrollIdentity, fetchBootstrapToken } from '#sdk';
import { until } from '../support/deadline.ts';
import { callCommand } from '../support/command-line.ts';
import { freePort } from '../support/free-port.ts';
import { PartProcess } from '../support/part-process.ts';
import { postgresSkip, sharedPostgres } from '../support/postgres.ts';
import type { ReplicaReady } from '../support/replicated.ts';
import { routerFile } from '../support/separate.ts';
import { openTurnBalancer, type TurnBalancer } from '../support/turn-balancer.ts';

const HOSTS = ['127.0.0.2', '127.0.0.3'] as const;
/** An enrollment makes two or three connections, so that some begin at either of the two. */
const ENROLLMENTS = 5;

describe('control planes behind a load balancer', { skip: postgresSkip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-balanced-'));
  const file = (name: string): string => join(folder, name);
  const parts: Pick<PartProcess, 'kill'>[] = [];
  const balancers: TurnBalancer[] = [];
  let ctrlAddress: string;
  /** The address of each control plane, without the balancer. */
  let apiUrls: readonly string[];
  let env: { FRONTDOOR_API_URL: string; FRONTDOOR_ACCOUNT_ID: string; FRONTDOOR_API_TOKEN: string };
  let edgeBalancer: TurnBalancer;
  let frontdoorId: string;
  before(async () => {
    const database = await (await sharedPostgres()).createDatabase();
    const key = `k1 ${randomBytes(32).toString('base64')}\n`;
    const [api, edge, ctrl] = [await freePort(), await freePort(), await freePort()];
    for (const port of [api, edge, ctrl]) balancers.push(await openTurnBalancer(port, HOSTS));
    edgeBalancer = balancers[1]!;
    const controls: PartProcess<ReplicaReady>[] = [];
    for (const host of HOSTS) {
      mkdirSync(file(host), { mode: 0o700 });
      writeFileSync(join(file(host), 'secrets.key'), key, { mode: 0o600 });
      const part = new PartProcess<ReplicaReady>({
        name: host,
        env: { FRONTDOOR_DATABASE: database },
        readyFile: file(`${host}.json`),
        args: () => [
          'control',
          '--data-dir',
          file(host),
          '--zone',
          'share.localhost',
          '--listen',
          host,
          '--advertise',
          '127.0.0.1',
          '--ctrl-host',
          host,
          '--public-api-url',
          `http://127.0.0.1:${api}`,
          '--api-port',
          String(api),
          '--edge-api-port',
          String(edge),
          '--ctrl-port',
          String(ctrl),
          '--ready-file',
          file(`${host}.json`),
        ],
      });
      parts.push(part);
      controls.push(part);
      await part.start();
    }
    const first = controls[0]!.ready;
    // What a router's file has: the balancer.
    ctrlAddress = `tls:127.0.0.1:${ctrl}`;
    apiUrls = HOSTS.map((host) => `http://${host}:${api}`);
    frontdoorId = first.frontdoorId!;
    env = {
      FRONTDOOR_API_URL: `http://127.0.0.1:${api}`,
      FRONTDOOR_ACCOUNT_ID: first.accountId!,
      FRONTDOOR_API_TOKEN: first.apiToken!,
    };
  });
  after(async () => {
    await Promise.all(parts.map((part) => part.kill()));
    await Promise.all(balancers.map((balancer) => balancer.close()));
    rmSync(folder, { recursive: true, force: true });
  });

  const tokenOf = async (kind: 'router' | 'gateway', name: string): Promise<string> => {
    await callCommand(['fabric', kind, 'create', name, '--out', file(`${name}.jwt`)], env);
    return file(`${name}.jwt`);
  };
  /** Enrolls, and logs in with the certificate. */
  const proveEnrollment = async (jwt: string, name: string): Promise<void> => {
    const { identity, id } = await enrollIdentity({ jwt, name });
    const client = new EdgeApiClient({ identity, log: silentLog });
    try {
      assert.equal((await client.session()).identityId, id);
    } finally {
      await client.close();
    }
  };
  /** Runs `enroll` some times, and checks that connections went to both control planes in the meantime. */
  const times = async (enroll: (name: string) => Promise<void>): Promise<void> => {
    const before = [...edgeBalancer.counts];
    for (let n = 0; n < ENROLLMENTS; n += 1) await enroll(`number-${n}`);
    for (const [at, count] of edgeBalancer.counts.entries())
      assert.ok(
        count - before[at]! >= ENROLLMENTS - 1,
        `${HOSTS[at]} got ${count - before[at]!} connections`,
      );
  };

  test('enroll gateways, which log in', () =>
    times(async (name) => {
      const jwt = readFileSync(await tokenOf('gateway', `gateway-${name}`), 'utf8').trim();
      await proveEnrollment(jwt, name);
    }));

  test('enroll environments by code, which log in', () =>
    times(async (name) => {
      const { FRONTDOOR_API_URL: apiUrl, FRONTDOOR_ACCOUNT_ID: account, FRONTDOOR_API_TOKEN: secret } = env;
      const api = new JsonClient({ origin: apiUrl });
      const { json } = await api.request({
        method: 'POST',
        path: `/frontdoor/${frontdoorId}/agents/enrollments`,
        headers: { authorization: `Basic ${account}:${secret}` },
      });
      await api.close();
      const { enrollmentCode: code } = json as { enrollmentCode: string };
      await proveEnrollment((await fetchBootstrapToken({ apiUrl, code })).token, name);
    }));

  test('enroll routers, which connect to both control planes, so that circuits over them are made at either', async () => {
    const port = await freePort();
    const links: Readonly<Record<string, string>> = {
      'number-0': `link:\n  listeners:\n    - { binding: transport, bind: 'tls:127.0.0.1:${port}', advertise: 'tls:127.0.0.1:${port}' }\n`,
      'number-1': 'link:\n  dialers:\n    - { binding: transport }\n',
    };
    await times(async (name) => {
      mkdirSync(file(name));
      const text = `${routerFile(file(name), ctrlAddress, 0)}${links[name] ?? ''}`;
      writeFileSync(file(`${name}.yml`), text);
      const jwt = await tokenOf('router', `router-${name}`);
      await callCommand(['router', 'enroll', file(`${name}.yml`), '--jwt', jwt]);
    });
    for (const name of Object.keys(links)) {
      const readyFile = file(`router-${name}.json`);
      const args = ['router', 'run', file(`${name}.yml`), '--ready-file', readyFile];
      const router = new PartProcess({ name, readyFile, args: () => args });
      parts.push(router);
      await router.start();
    }
    // A link is reported to the control planes that its routers are connected to.
    for (const apiUrl of apiUrls)
      await until(
        `a link at ${apiUrl}`,
        () => callCommand(['fabric', 'links', '--json'], { ...env, FRONTDOOR_API_URL: apiUrl }),
        (text) => (JSON.parse(text) as readonly unknown[]).length === 1,
      );
  });
});
