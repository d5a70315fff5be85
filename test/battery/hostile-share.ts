/** A share `evil` of another organization in the same zone, whose service answers as a row wants it. */
import { createServer, type RequestListener } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { callAgent } from '#cli';
import { until } from '../support/deadline.ts';
import { ZONE, type IdentityWorld } from '../support/identity-world.ts';

const SHARED_MS = 45_000;

export interface HostileShareOptions {
  readonly world: IdentityWorld;
  /** The socket of the other organization's agent. */
  readonly agentSocket: string;
  readonly closers: (() => Promise<void>)[];
  readonly answer: RequestListener;
}

/** Returns the host of the share when the gateway serves it. */
export async function startHostileShare(options: HostileShareOptions): Promise<string> {
  const { world, agentSocket, closers, answer } = options;
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    server.close();
    server.closeAllConnections();
  });
  const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await callAgent(agentSocket, { op: 'share', mode: 'public', target, name: 'evil', grants: [] }, SHARED_MS);
  const host = `evil.${ZONE}`;
  await until(
    `${host} is served`,
    async () => (await world.visitor().ask(host, '/', { navigates: false })).status,
    (status) => status === 200,
    SHARED_MS,
  );
  return host;
}
