/**
 * Orders one certificate for a gateway, which started it: a process of its own, no command. It ends after its outcome, or
 * when the gateway is gone or no longer wants it. Signals of a terminal are the gateway's. ADR 0056.
 */
import process from 'node:process';
import { messageOf } from '#base';
import { isRateLimited, orderCertificate, retryAfterOf } from '#gateway/acme-order';
import { fromOrderShape, toOrderShape, type FromOrder, type ToOrder } from './order-messages.ts';

/** For the DNS hook, which is killed, to be gone. */
const END_MS = 500;
const ending = new AbortController();

function send(message: FromOrder, then: () => void = () => {}): void {
  if (process.connected) process.send!(fromOrderShape.numbered(message), undefined, undefined, then);
  else then();
}

async function outcomeOf(order: ToOrder): Promise<FromOrder> {
  try {
    const onNote = (note: string): void => send({ type: 'note', note });
    const pair = await orderCertificate({ ...order, signal: ending.signal, onNote });
    return { type: 'obtained', ...pair };
  } catch (error) {
    const isLimited = isRateLimited(error);
    return { type: 'failed', message: messageOf(error), retryAfterMs: retryAfterOf(error), isLimited };
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.once('disconnect', () => {
  ending.abort();
  setTimeout(() => process.exit(1), END_MS);
});
process.once('message', (value) => {
  const read = toOrderShape.read(value);
  if ('problem' in read) {
    const failed = { type: 'failed', message: read.problem, retryAfterMs: 0, isLimited: false } as const;
    send(failed, () => process.exit(1));
    return;
  }
  void outcomeOf(read.value).then((outcome) => send(outcome, () => process.exit(0)));
});
