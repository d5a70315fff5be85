/**
 * The product in separate processes with two agents: the circuits of one are encrypted end to end, those of the other
 * are in clear. Each hosts a public share, which the gateway serves, and a private one, which a third agent opens.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { callAgent } from '#cli';
import { AGENT_SOCKET_FILE } from '#domain/agent-shapes';
import { nodeFlags } from '../../../bin/node-flags.js';
import type { BenchRun } from '../bench-run.ts';
import { untilAnswers } from '../check-client.ts';
import type { HttpTarget } from '../http-samplers.ts';
import type { NginxPeer } from '../nginx-peer.ts';
import { targetName, type Secrecy } from '../product-goal-table.ts';
import { profileArguments } from '../../support/ready-process.ts';
import { startScript } from '../script-process.ts';
import { openPrivateShare, startTwoAgents, type TwoAgents } from '../separate-product.ts';
import type { AgentArguments } from './agent-process.ts';

const ZONE = 'share.localhost';
const SECRECIES: readonly Secrecy[] = ['encrypted', 'in clear'];

/** All of it ends with the run. */
export async function startSealedAndClear(run: BenchRun, nginx: NginxPeer): Promise<HttpTarget[]> {
  const product = await startTwoAgents(run, 'encryption');
  const targets: HttpTarget[] = [];
  for (const secrecy of SECRECIES) targets.push(...(await startOne(run, product, secrecy, nginx)));
  return targets;
}

async function startOne(
  run: BenchRun,
  { separate, visitor }: TwoAgents,
  secrecy: Secrecy,
  nginx: NginxPeer,
): Promise<HttpTarget[]> {
  const word = secrecy === 'encrypted' ? 'sealed' : 'clear';
  const flags = [...nodeFlags('agent'), ...profileArguments(run.options.cpuProfileDir)];
  const dataDir = join(separate.folder, `agent-${word}`);
  const { json } = await separate.call('POST', '/agents/enrollments');
  const argument: AgentArguments = {
    dataDir,
    apiUrl: separate.control.ready.apiUrl,
    ca: readFileSync(join(separate.folder, 'api-ca.pem'), 'utf8'),
    name: word,
    isClear: word === 'clear',
    code: (json as { enrollmentCode: string }).enrollmentCode,
  };
  const agent = await startScript('encryption/agent-process.ts', argument, flags);
  run.defer(() => agent.stop('SIGTERM'));
  const target = `http://127.0.0.1:${nginx.servicePort}`;
  const socket = join(dataDir, AGENT_SOCKET_FILE);
  await callAgent(socket, { op: 'share', mode: 'public', target, name: `${word}-public`, grants: [] });
  const doorPort = await openPrivateShare(
    socket,
    visitor,
    `tcp://127.0.0.1:${nginx.servicePort}`,
    `${word}-private`,
  );
  const shared: [string, number][] = [
    ['agent', agent.pid],
    ['router', separate.router.pid],
    ...nginx.processes,
  ];
  const host = `${word}-public.${ZONE}`;
  const ways = [
    { way: 'public', port: separate.port, client: ['gateway', separate.gateway.pid] },
    { way: 'private', port: doorPort, client: ['visitor', visitor.part.pid] },
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
