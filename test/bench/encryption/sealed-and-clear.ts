/**
 * The product in separate processes with two agents: the circuits of one are encrypted end to end, those of the other
 * are in clear. Each hosts a public share, which the gateway serves, and a private one, which an SDK client dials.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { callAgent } from '#cli';
import { AGENT_SOCKET_FILE } from '#domain/agent-shapes';
import { nodeFlags } from '../../../bin/node-flags.js';
import type { Separate } from '../../support/separate.ts';
import type { BenchRun } from '../bench-run.ts';
import { untilAnswers } from '../check-client.ts';
import type { HttpTarget } from '../http-samplers.ts';
import type { NginxPeer } from '../nginx-peer.ts';
import { targetName, type Secrecy } from '../product-goal-table.ts';
import { profileArguments } from '../../support/ready-process.ts';
import { startScript, type Script } from '../script-process.ts';
import { startParts } from '../separate-product.ts';
import type { AgentArguments } from './agent-process.ts';
import type { DoorArguments } from './door-process.ts';

const ZONE = 'share.localhost';
const SECRECIES: readonly Secrecy[] = ['encrypted', 'in clear'];

/** All of it ends with the run. */
export async function startSealedAndClear(run: BenchRun, nginx: NginxPeer): Promise<HttpTarget[]> {
  const separate = await startParts(run, 'encryption');
  const targets: HttpTarget[] = [];
  for (const secrecy of SECRECIES) targets.push(...(await startOne(run, separate, secrecy, nginx)));
  return targets;
}

async function startOne(
  run: BenchRun,
  separate: Separate,
  secrecy: Secrecy,
  nginx: NginxPeer,
): Promise<HttpTarget[]> {
  const word = secrecy === 'encrypted' ? 'sealed' : 'clear';
  const flags = [...nodeFlags('agent'), ...profileArguments(run.options.cpuProfileDir)];
  const start = async (file: string, argument: AgentArguments | DoorArguments): Promise<Script> => {
    const script = await startScript(file, argument, flags);
    run.defer(() => script.stop('SIGTERM'));
    return script;
  };
  const { apiUrl } = separate.control.ready;
  const dataDir = join(separate.folder, `agent-${word}`);
  const ca = readFileSync(join(separate.folder, 'api-ca.pem'), 'utf8');
  const code = async (): Promise<string> => {
    const { json } = await separate.call('POST', '/agents/enrollments');
    return (json as { enrollmentCode: string }).enrollmentCode;
  };
  const agent = await start('encryption/agent-process.ts', {
    dataDir,
    apiUrl,
    ca,
    name: word,
    isClear: word === 'clear',
    code: await code(),
  });
  const name = `door-${word}`;
  const door = await start('encryption/door-process.ts', { apiUrl, ca, code: await code(), name });
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
  const ways = [
    { way: 'public', port: separate.port, client: ['gateway', separate.gateway.pid] },
    { way: 'private', port: doorPort, client: ['client', door.pid] },
  ] as const;
  for (const { port } of ways) await untilAnswers({ port, host });
  return ways.map(({ way, port, client }) => ({
    name: targetName(way, secrecy),
    port,
    host,
    serviceRequests: 1,
    processes: new Map([client, ...shared]),
  }));
}
