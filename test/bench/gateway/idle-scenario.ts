/** What idle clients cost a front: resident memory before and with them, held by a process of their own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { residentBytes } from '../bench-process.ts';
import { openIdle } from '../check-client.ts';
import type { Door, Front } from './bench-front.ts';
import type { IdleFacts } from './gateway-bench-result.ts';
import type { IdleLoad } from './idle-client-process.ts';

const CLIENT_PROCESS = fileURLToPath(new URL('./idle-client-process.ts', import.meta.url));
/** What the set-up left behind goes first. */
const SETTLE_MS = 3_000;
const FIRST_CONNECTIONS = 20;
const OPEN_DEADLINE_MS = 300_000;

/** Before any load: a heap that a load has grown would hide what connections take. */
export async function measureIdle(
  { processes }: Pick<Front, 'processes'>,
  { port, host, entrance }: Door,
  connections: number,
): Promise<IdleFacts> {
  // What the first connections alone bring with them is not counted.
  (await openIdle(port, host, FIRST_CONNECTIONS, entrance))();
  await pause(SETTLE_MS);
  const [pid] = processes.values();
  const beforeBytes = residentBytes(pid!);
  const load: IdleLoad = { port, host, entrance, connections };
  const child = spawn(process.execPath, [CLIENT_PROCESS, JSON.stringify(load)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const deadline = setTimeout(() => child.kill('SIGKILL'), OPEN_DEADLINE_MS);
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const countOpen = async (): Promise<void> => {
      const { value, done } = await lines.next();
      if (done === true) throw new Error('the idle clients ended before they were counted');
      if (Number(value) !== connections) throw new Error(`${value} of ${connections} idle clients are open`);
    };
    await countOpen();
    await pause(SETTLE_MS);
    const heldBytes = residentBytes(pid!);
    child.stdin.write('count\n');
    await countOpen();
    return { connections, beforeBytes, heldBytes };
  } finally {
    clearTimeout(deadline);
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
  }
}
