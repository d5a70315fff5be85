/** One agent in a memory network, for tests that ask and dial it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '#base';
import { startAgent, type Agent, type AgentOptions } from '../agent.ts';
import type { MemoryCircuit } from './memory-circuit.ts';
import { MemoryNetwork } from './memory-network.ts';

/** What ends with the test, last first. */
export const cleanups: (() => unknown)[] = [];

/** For `afterEach`. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
}

export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'agent-'));
  cleanups.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export async function serve(server: {
  listen: Server['listen'];
  address: Server['address'];
  close: Server['close'];
}): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export function hello(text = 'hello'): Promise<string> {
  const http = createHttpServer((_request, response) => response.end(text));
  cleanups.push(() => http.closeAllConnections());
  return serve(http);
}

export async function world(
  options: Partial<AgentOptions> = {},
): Promise<{ agent: Agent; network: MemoryNetwork; dataDir: string }> {
  const dataDir = options.dataDir ?? folder();
  const network = new MemoryNetwork();
  const agent = await startAgent({
    dataDir,
    allowTargets: [],
    version: '9.9.9',
    log: silentLog,
    openNetwork: async () => network,
    ...options,
    timing: {
      pollMs: 20,
      retargetGraceMs: 50,
      retryMs: 20,
      drainQuietMs: 100,
      health: { intervalMs: 50, closeTimeoutMs: 200 },
      ...options.timing,
    },
  });
  cleanups.push(() => agent.close());
  return { agent, network, dataDir };
}

export async function get(caller: MemoryCircuit): Promise<string> {
  const chunks: Uint8Array[] = [];
  const closed = new Promise<Error | undefined>((resolve) => (caller.onClose = resolve));
  caller.onData = (view) => chunks.push(view);
  caller.onEnd = () => caller.end();
  caller.resume();
  caller.write(Buffer.from('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'));
  assert.equal(await closed, undefined);
  return Buffer.concat(chunks).toString();
}
