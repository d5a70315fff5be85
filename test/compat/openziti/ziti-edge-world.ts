/** An installation with the edge management API and an administrator, whom `ziti edge` has logged in. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '#base';
import type { FirstStart } from '#control';
import { JsonClient } from '#net';
import { startUp, type Up } from '../../../bin/up.ts';
import { callCommand } from '../../support/command-line.ts';
import { until } from '../../support/deadline.ts';
import { EdgeManagementClient } from '../../support/edge-management-client.ts';
import { freePort } from '../../support/free-port.ts';
import { startPrivateService, type PrivateService } from '../../support/private-service.ts';
import { provideServerKey } from '../../support/server-key.ts';
import { httpGet, startWorldAgent, type WorldAgent } from '../../support/world.ts';
import { runZiti } from '../../support/ziti-command.ts';
import { startTunneler, type Tunneler } from './tunneler.ts';

export const CREDENTIALS = { username: 'root', password: 'a password of an administrator' };
const READY_MS = 30_000;

export interface ZitiEdgeWorld {
  readonly folder: string;
  readonly up: Up;
  readonly service: PrivateService;
  /** The credentials of the first account. */
  readonly credentials: FirstStart;
  /** Starts an agent, which runs until the world ends. */
  startAgent(name: string): Promise<WorldAgent>;
  /** Runs `ziti edge` and returns its output. Fails unless it ends well. */
  edge(...args: string[]): Promise<string>;
  /** Writes a file of the folder and returns its path. */
  write(name: string, text: string): string;
  /** The answer of the edge management API, of which `ziti edge` has no command. */
  read(path: string): Promise<string>;
  /** Runs `ziti tunnel` until the world ends. */
  tunnel(identityFile: string, mode: string, ...services: string[]): void;
  /** Resolves with the port of `ziti tunnel proxy` when it answers for the service. */
  proxy(identityFile: string, service: string): Promise<number>;
  close(): Promise<void>;
}

export async function openZitiEdgeWorld(binary: string): Promise<ZitiEdgeWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-ziti-edge-'));
  const dataDir = join(folder, 'data');
  provideServerKey(dataDir);
  const service = await startPrivateService();
  const start = (): Promise<Up> =>
    startUp({
      dataDir,
      listenHost: '127.0.0.1',
      advertiseHost: 'localhost',
      ports: { http: 0, https: 0, api: 0, edgeApi: 0, ctrl: 0, edge: 0 },
      anyPort: true,
      zone: 'share.localhost',
      access: { edgeManagement: true },
      version: '0.0.0-test',
      log: silentLog,
    });
  const first = await start();
  const credentials = first.firstStart!;
  await first.close(0);
  const write = (name: string, content: string): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  await callCommand([
    ...['admins', 'create', '--data-dir', dataDir, '--username', CREDENTIALS.username],
    ...['--password-file', write('password', `${CREDENTIALS.password}\n`)],
    ...['--out', join(folder, 'admin.json')],
  ]);
  const up = await start();
  const { edgeApiUrl } = up.control;
  const edge = async (...args: string[]): Promise<string> => {
    const { status, output } = await runZiti(binary, folder, ['edge', ...args]);
    assert.equal(status, 0, `ziti edge ${args.join(' ')}: ${output}`);
    return output;
  };
  await edge('login', edgeApiUrl, '-u', CREDENTIALS.username, '-p', CREDENTIALS.password, '-y');
  const agents: WorldAgent[] = [];
  const tunnelers: Tunneler[] = [];
  const tunnel = (file: string, mode: string, ...services: string[]): void => {
    tunnelers.push(startTunneler(binary, folder, file, mode, ...services));
  };
  return {
    ...{ folder, up, service, credentials, edge, write, tunnel },
    async startAgent(name) {
      const { frontdoorId, accountId, apiToken } = credentials;
      const client = new JsonClient({ origin: up.control.apiUrl });
      const path = `/frontdoor/${frontdoorId}/agents/enrollments`;
      const headers = { authorization: `Basic ${accountId}:${apiToken}` };
      const { json } = await client.request({ method: 'POST', path, headers });
      await client.close();
      const { enrollmentCode } = json as { enrollmentCode: string };
      const agent = await startWorldAgent(join(folder, name), name, up, enrollmentCode, silentLog);
      agents.push(agent);
      return agent;
    },
    read: async (path) => (await EdgeManagementClient.logIn(edgeApiUrl, CREDENTIALS)).call('GET', path),
    async proxy(file, name) {
      const port = await freePort();
      tunnel(file, 'proxy', `${name}:${port}`);
      const answer = () => httpGet(port, name, '/').catch(() => ({ status: 0 }));
      await until('an answer through ziti tunnel proxy', answer, ({ status }) => status === 200, READY_MS);
      return port;
    },
    async close() {
      for (const agent of agents) await agent.close();
      for (const tunneler of tunnelers) await tunneler.stop();
      await up.close(0);
      await service.close();
      rmSync(folder, { recursive: true });
    },
  };
}
