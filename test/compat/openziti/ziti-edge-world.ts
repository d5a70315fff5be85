/** An installation with the edge management API and an administrator, whom `ziti edge` has logged in. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { silentLog } from '#base';
import type { FirstStart } from '#control';
import { JsonClient } from '#net/http';
import type { Up } from '../../../bin/up.ts';
import { until } from '../../support/deadline.ts';
import { CREDENTIALS, openEdgeInstallation } from '../../support/edge-installation.ts';
import { freePort } from '../../support/free-port.ts';
import { startPrivateService, type PrivateService } from '../../support/private-service.ts';
import { httpGet, startWorldAgent, type WorldAgent } from '../../support/world.ts';
import { runZiti } from '../../support/ziti-command.ts';
import { startTunneler, type Tunneler } from './tunneler.ts';

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
  const installation = await openEdgeInstallation();
  const { folder, up, credentials, write } = installation;
  const service = await startPrivateService();
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
    folder,
    up,
    service,
    credentials,
    edge,
    write,
    tunnel,
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
    read: async (path) => (await installation.logIn()).call('GET', path),
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
      await installation.close();
      await service.close();
    },
  };
}
