/**
 * Orders one certificate for a gateway, which started it: a process of its own, no command. It ends after its outcome, or
 * when the gateway is gone or no longer wants it. Signals of a terminal are the gateway's. ADR 0056.
 */
import { join } from 'node:path';
import process from 'node:process';
import { messageOf } from '#base';
import {
  ChallengeRecords,
  isDelegated,
  isRateLimited,
  openDnsProvider,
  orderCertificate,
  providerNameOf,
  RecordJournal,
  retryAfterOf,
} from '#gateway/acme-order';
import { outwardDialerOf } from '#net';
import {
  fromOrderShape,
  RECORDS_FOLDER,
  toOrderShape,
  type FromOrder,
  type ToOrder,
} from './order-messages.ts';

/** For a DNS hook, which is killed, to be gone. */
const END_MS = 500;
const ending = new AbortController();

function send(message: FromOrder, then: () => void = () => {}): void {
  if (process.connected) process.send!(fromOrderShape.numbered(message), undefined, undefined, then);
  else then();
}

async function outcomeOf(order: ToOrder): Promise<FromOrder> {
  try {
    const pair = await orderCertificate({ ...order, records: await recordsOf(order) });
    return { type: 'obtained', ...pair };
  } catch (error) {
    const isLimited = isRateLimited(error);
    return { type: 'failed', message: messageOf(error), retryAfterMs: retryAfterOf(error), isLimited };
  }
}

/** Without records, the proof is by HTTP-01: so it is for a domain of a share whose owner delegated none. */
async function recordsOf({
  settings: { dns },
  name,
  folder,
}: ToOrder): Promise<ChallengeRecords | undefined> {
  if (dns === undefined) return undefined;
  if (!name.startsWith('*.') && !(await isDelegated(name, dns.servers))) return undefined;
  const surroundings = { folder, environment: process.env, outward: outwardDialerOf(process.env) };
  return new ChallengeRecords({
    providerName: providerNameOf(dns.by),
    provider: await openDnsProvider(dns.by, surroundings),
    servers: dns.servers,
    journal: new RecordJournal(join(folder, RECORDS_FOLDER)),
    signal: ending.signal,
    onNote: (note) => send({ type: 'note', note }),
  });
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
