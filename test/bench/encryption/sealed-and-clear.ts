/**
 * The product in separate processes with two agents: the circuits of one are encrypted end to end, those of the other
 * are in clear. Each hosts a public share, which the gateway serves, and a private one, which an SDK client dials.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { callAgent } from '#cli';
import { AGENT_SOCKET_FILE } from '#domain';
import { nodeFlags } from '../../../bin/node-flags.js';
import { startSeparate, type Separate } from '../../support/separate.ts';
import type { HttpTarget } from '../http-samplers.ts';
import type { NginxPeer } from '../nginx-peer.ts';
import { untilServed } from '../product.ts';
import { profileArguments } from '../ready-process.ts';
import { startScript, type Script } from '../script-process.ts';
import type { AgentArguments } from './agent-process.ts';
import type { DoorArguments } from './door-process.ts';
import { targetName, type Secrecy } from './target-name.ts';

export interface SealedAndClear {
  readonly targets: readonly HttpTarget[];
  stop(): Promise<void>;
}

const ZONE = 'share.localhost';
const SECRECIES: readonly Secrecy[] = ['encrypted', 'in clear'];

export async function startSealedAndClear(
  folder: string,
  nginx: NginxPeer,
  cpuProfileDir: string | undefined,
): Promise<SealedAndClear> {
  const nodeArgs = profileArguments(cpuProfileDir);
  const separate = await startSeparate({ folder, logLevel: 'warn', nodeArgs });
  const scripts: Script[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(scripts.map((script) => script.stop('SIGTERM')));
    await separate.stop();
  };
  try {
    const targets: HttpTarget[] = [];
    for (const secrecy of SECRECIES) {
      targets.push(...(await startOne(separate, secrecy, nginx, nodeArgs, scripts)));
    }
    return { targets, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startOne(
  separate: Separate,
  secrecy: Secrecy,
  nginx: NginxPeer,
  nodeArgs: readonly string[],
  scripts: Script[],
): Promise<HttpTarget[]> {
  const word = secrecy === 'encrypted' ? 'sealed' : 'clear';
  const flags = [...nodeFlags('agent'), ...nodeArgs];
  const { apiUrl } = separate.control.ready;
  const dataDir = join(separate.folder, `agent-${word}`);
  const ca = readFileSync(join(separate.folder, 'api-ca.pem'), 'utf8');
  const code = async (): Promise<string> => {
    const { json } = await separate.call('POST', '/agents/enrollments');
    return (json as { enrollmentCode: string }).enrollmentCode;
  };
  const agentArguments: AgentArguments = {
    ...{ dataDir, apiUrl, ca, name: word, isClear: word === 'clear' },
    code: await code(),
  };
  const agent = await startScript('encryption/agent-process.ts', agentArguments, flags);
  scripts.push(agent);
  const doorArguments: DoorArguments = { apiUrl, ca, code: await code(), name: `door-${word}` };
  const door = await startScript('encryption/door-process.ts', doorArguments, flags);
  scripts.push(door);
  const target = `http://127.0.0.1:${nginx.servicePort}`;
  const socket = join(dataDir, AGENT_SOCKET_FILE);
  await callAgent(socket, { op: 'share', mode: 'public', target, name: `${word}-public`, grants: [] });
  const grants = [door.line];
  await callAgent(socket, { op: 'share', mode: 'private', target, name: `${word}-private`, grants });
  const doorPort = Number(await door.ask());
  const shared: [string, number][] = [
    ['agent', agent.pid],
    ['router', separate.router.pid],
    ...nginx.processes,
  ];
  const host = `${word}-public.${ZONE}`;
  await untilServed(separate.port, host, '/small');
  await untilServed(doorPort, host, '/small');
  return [
    {
      name: targetName('public', secrecy),
      port: separate.port,
      host,
      serviceRequests: 1,
      processes: new Map([['gateway', separate.gateway.pid], ...shared]),
    },
    {
      name: targetName('private', secrecy),
      port: doorPort,
      host,
      serviceRequests: 1,
      processes: new Map([['client', door.pid], ...shared]),
    },
  ];
}
