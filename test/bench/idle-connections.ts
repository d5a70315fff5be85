/** What idle clients cost a server: resident memory before and with them; a process of its own holds them. */
import { setTimeout as pause } from 'node:timers/promises';
import { residentBytes } from '../support/child-process.ts';
import { openIdle, type Door } from './check-client.ts';
import type { IdleLoad } from './idle-client-process.ts';
import { startScript } from './script-process.ts';

/** How long a process needs to settle before its memory is read. */
export const SETTLE_MS = 3_000;
const FIRST_CONNECTIONS = 20;

/** Idle connections at one server. */
export interface IdleMemory {
  readonly connections: number;
  /** Resident bytes before and with them. */
  readonly beforeBytes: number;
  readonly heldBytes: number;
}

/** Measure it before any load: a heap that a load has grown would hide what connections take. */
export async function measureIdle(pid: number, door: Door, connections: number): Promise<IdleMemory> {
  // What the first connections alone bring with them is not counted.
  (await openIdle(door, FIRST_CONNECTIONS))();
  await pause(SETTLE_MS);
  const beforeBytes = residentBytes(pid);
  const load: IdleLoad = { door, connections };
  const clients = await startScript('idle-client-process.ts', load);
  try {
    const check = (open: string): void => {
      if (Number(open) !== connections) throw new Error(`${open} of ${connections} idle clients are open`);
    };
    check(clients.line);
    await pause(SETTLE_MS);
    const heldBytes = residentBytes(pid);
    check(await clients.ask());
    return { connections, beforeBytes, heldBytes };
  } finally {
    await clients.stop();
  }
}

/** What they add to the process, each. */
export function kibPerConnection({ connections, beforeBytes, heldBytes }: IdleMemory): number {
  return Math.max(0, heldBytes - beforeBytes) / connections / 1024;
}
