/**
 * A port for a program that is given its port before it listens, or that is to come back on it. It is below those that
 * the system gives to outgoing connections and to `listen(0)`, because another program may take one of these a moment
 * later, and on a busy machine does. Each test process draws from a slice of its own, and no port twice.
 */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Linux gives out ports from 32768 on, others from 49152. */
const LOWEST = 12_000;
const SLICE_PORTS = 200;
const SLICES = 100;

interface Slice {
  /** The next one that was not given out. */
  next: number;
  readonly end: number;
}

let current: Promise<Slice> | undefined;

/** The first of `count` ports in a row that were free a moment ago. */
export async function freePort(count = 1): Promise<number> {
  for (;;) {
    current ??= newSlice();
    const asked = current;
    const slice = await asked;
    const first = slice.next;
    if (first + count > slice.end) {
      if (current === asked) current = undefined;
      continue;
    }
    // Counted before the port is tried, because other calls may run in the meantime.
    slice.next += count;
    if (await areFree(first, count)) return first;
  }
}

/** Its first port is held for as long as this process lives, so that no other one takes the slice. */
async function newSlice(): Promise<Slice> {
  const from = randomInt(SLICES);
  for (let tries = 0; tries < SLICES; tries += 1) {
    const first = LOWEST + ((from + tries) % SLICES) * SLICE_PORTS;
    try {
      (await listening(first)).unref();
      return { next: first + 1, end: first + SLICE_PORTS };
    } catch {
      // The slice of another process.
    }
  }
  throw new Error(`all ${SLICES} slices of ports are taken`);
}

async function areFree(first: number, count: number): Promise<boolean> {
  const servers: Server[] = [];
  try {
    for (let next = 0; next < count; next += 1) servers.push(await listening(first + next));
    return true;
  } catch {
    return false;
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

async function listening(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
