/** A thread that sends wrong log-ins from 200 networks at a rate, until a message ends it. */
import { parentPort, workerData } from 'node:worker_threads';
import { LogInSender } from './log-in-sender.ts';

export interface FloodOrder {
  /** Log-ins a second. */
  readonly rate: number;
  readonly apiUrl: string;
  readonly ca: string;
}

export interface FloodResult {
  readonly sent: number;
  /** Number of answers by status. */
  readonly statuses: Readonly<Record<number, number>>;
}

const NETWORKS = 200;
/** A network sends no faster than the answers on these connections come. */
const SOCKETS_PER_NETWORK = 5;
/** Beyond that the flood leaves log-ins out, as its sender would have to. */
const MAX_OPEN = 4_000;

const { rate, apiUrl, ca } = workerData as FloodOrder;
const sender = new LogInSender(apiUrl, ca, SOCKETS_PER_NETWORK);
const statuses: Record<number, number> = {};
const startedMs = performance.now();
let open = 0;
let due = 0;
let sent = 0;

function send(): void {
  const wanted = Math.floor(((performance.now() - startedMs) / 1_000) * rate);
  for (; due < wanted; due += 1) {
    if (open >= MAX_OPEN) continue;
    open += 1;
    sent += 1;
    const fields = { name: `guess-${due}@example.com`, password: 'a wrong password' };
    void sender.send(`127.70.${due % NETWORKS}.1`, fields).then(({ status }) => {
      statuses[status] = (statuses[status] ?? 0) + 1;
      open -= 1;
    });
  }
}

const timer = setInterval(send, 10);
parentPort!.once('message', () => {
  clearInterval(timer);
  parentPort!.postMessage({ sent, statuses } satisfies FloodResult);
  process.exit();
});
