// Holds idle connections: its arguments as JSON. Prints one line when each was answered once; at a line of its input it
// prints how many are still open. A process of its own, because client and server each may open 20,000 files only.
import { createInterface } from 'node:readline';
import { CheckConnection, type Door } from './check-client.ts';

export interface IdleLoad {
  readonly door: Door;
  readonly connections: number;
}

/** Requests and handshakes at the same time. */
const AT_ONCE = 64;
/** Servers close what has been idle for a minute; on a slow machine it takes longer to open them all. */
const REFRESH_MS = 20_000;

interface Held {
  readonly connection: CheckConnection;
  readonly usedMs: number;
}

const { door, connections } = JSON.parse(process.argv[2]!) as IdleLoad;
const held: CheckConnection[] = [];
/** Those that wait, the one that was used longest ago first; what stands before `first` has been taken out. */
const waiting: Held[] = [];
let first = 0;

async function use(connection: CheckConnection): Promise<void> {
  const usedMs = performance.now();
  const { status } = await connection.request('/small');
  if (status !== 200) throw new Error(`an idle connection was answered ${status}`);
  waiting.push({ connection, usedMs });
}

/** Opens and refreshes until all are open. */
async function work(): Promise<void> {
  while (held.length < connections) {
    const oldest = waiting[first];
    if (oldest !== undefined && performance.now() - oldest.usedMs > REFRESH_MS) {
      first += 1;
      await use(oldest.connection);
    } else {
      const connection = new CheckConnection(door);
      held.push(connection);
      await use(connection);
    }
  }
}

const countOpen = (): number => held.filter(({ isOpen }) => isOpen).length;

await Promise.all(Array.from({ length: AT_ONCE }, work));
console.log(countOpen());
for await (const _line of createInterface({ input: process.stdin })) console.log(countOpen());
