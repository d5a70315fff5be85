/** An order of a certificate as the gateway sees it: a process that sends its outcome, or is ended. */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { FrontdoorError } from '#base';
import { OrderFailure } from '#gateway';
import { fromOrderShape, toOrderShape, type ToOrder } from './order-messages.ts';

const ENTRY = join(dirname(fileURLToPath(import.meta.url)), 'certificate-order.ts');
/** For the end of a process that was asked to end. */
const END_MS = 3_000;

export interface OrderOptions {
  readonly order: ToOrder;
  /** Ends the process. */
  readonly signal: AbortSignal;
  /** Takes a sentence for the log. */
  readonly onNote: (note: string) => void;
}

/** PEM texts. Rejects with `acme-failed`. */
export async function orderInProcess({
  order,
  signal,
  onNote,
}: OrderOptions): Promise<{ readonly cert: string; readonly key: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ cert: string; key: string }>();
  const child = spawn(process.execPath, [...process.execArgv, ENTRY], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const end = (): void => {
    reject(new FrontdoorError('unavailable', 'acme-failed', 'the order was ended'));
    if (child.connected) child.disconnect();
    setTimeout(() => child.kill('SIGKILL'), END_MS).unref();
  };
  child.once('error', reject);
  // Unlike `exit`, `close` comes after the last message of the process.
  child.once('close', (status, ended) => {
    const why = `the process of the order ended with ${ended ?? `status ${status}`}`;
    reject(new FrontdoorError('unavailable', 'acme-failed', why));
  });
  child.on('message', (value) => {
    const read = fromOrderShape.read(value);
    if ('problem' in read) reject(new FrontdoorError('unavailable', 'acme-failed', read.problem));
    else if (read.value.type === 'note') onNote(read.value.note);
    else if (read.value.type === 'obtained') resolve({ cert: read.value.cert, key: read.value.key });
    else reject(new OrderFailure(read.value.message, read.value));
  });
  child.send(toOrderShape.numbered(order), () => {});
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', end);
  }
}
