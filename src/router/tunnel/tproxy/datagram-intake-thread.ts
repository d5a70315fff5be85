/** The thread of a `DatagramIntake`: passes datagrams to the router in batches, and drops them while too many batches wait. */
import { parentPort, workerData } from 'node:worker_threads';
import { socketCalls } from '../machine/socket-calls.ts';
import { DatagramReader, type InterceptedDatagram } from './datagram-reader.ts';

export interface IntakeThreadData {
  readonly fd: number;
  /** The counters below, shared with the router. */
  readonly shared: SharedArrayBuffer;
}

/** Indexes of the shared counters: batches that the router has not taken, dropped datagrams, and whether to end. */
export const WAITING_BATCHES = 0;
export const DROPPED = 1;
export const ENDS = 2;
export const COUNTERS = 3;

const MAX_BATCH = 32;
const MAX_WAITING_BATCHES = 64;

/** Ends when the router asks for it, half a second later at most. */
async function receive({ fd, shared }: IntakeThreadData): Promise<void> {
  const calls = await socketCalls();
  const reader = new DatagramReader(calls, fd);
  const counters = new Int32Array(shared);
  while (Atomics.load(counters, ENDS) === 0) {
    const first = reader.next(true);
    if (first === undefined) continue;
    const batch: InterceptedDatagram[] = [first];
    for (let next = reader.next(false); next !== undefined; next = reader.next(false)) {
      batch.push(next);
      if (batch.length === MAX_BATCH) break;
    }
    if (Atomics.load(counters, WAITING_BATCHES) >= MAX_WAITING_BATCHES) {
      Atomics.add(counters, DROPPED, batch.length);
      continue;
    }
    Atomics.add(counters, WAITING_BATCHES, 1);
    parentPort!.postMessage(
      batch,
      batch.map(({ data }) => data.buffer as ArrayBuffer),
    );
  }
  calls.close(fd);
}

if (parentPort !== null) void receive(workerData as IntakeThreadData);
