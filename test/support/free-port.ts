/**
 * A port for what has to be told its port before it listens. From below those that the system gives to outgoing
 * connections and to `listen(0)`: one of these may be anybody's a moment later, and on a busy machine it is.
 */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Linux begins with 32768, others with 49152. */
const LOWEST = 12_000;
const HIGHEST = 32_000;
const MAX_TRIES = 100;

/** The first of `count` ports in a row that were free a moment ago. */
export async function freePort(count = 1): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const port = randomInt(LOWEST, HIGHEST - count);
    const servers: Server[] = [];
    try {
      for (let next = 0; next < count; next += 1) servers.push(await listening(port + next));
      return port;
    } catch {
      // One of them is taken.
    } finally {
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    }
  }
  throw new Error(`no free port found in ${MAX_TRIES} tries`);
}

async function listening(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
