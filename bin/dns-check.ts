/** `frontdoor gateway dns-check`: creates a TXT record like that of a challenge, looks for it at the name servers, removes it. */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { FrontdoorError } from '#base';
import type { CliIo, DnsCheckCommandOptions } from '#cli';
import { ChallengeRecords, openDnsProvider, providerNameOf, RecordJournal } from '#gateway';
import { outwardDialerOf } from '#net';
import { ACME_FOLDER } from './automatic-certificates.ts';
import { dnsSettingsOf } from './dns-provider-options.ts';
import { RECORDS_FOLDER } from './order-messages.ts';

/** The bytes of a challenge, a SHA-256. */
const VALUE_BYTES = 32;
const CLEAN_UP_MS = 60_000;

/** Rejects with the error of the provider or of the record. */
export async function runDnsCheck(
  domain: string,
  options: DnsCheckCommandOptions,
  io: Pick<CliIo, 'out'>,
): Promise<void> {
  const dns = await dnsSettingsOf(options);
  if (dns === undefined)
    throw new FrontdoorError(
      'invalid',
      'acme-options',
      'give the options of your gateway: --acme-dns-provider with its --acme-dns-setting, or --acme-dns-hook',
    );
  const folder = join(resolve(options.dataDir), ACME_FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const surroundings = { folder, environment: process.env, outward: outwardDialerOf(process.env) };
  const provider = await openDnsProvider(dns.by, surroundings);
  const ending = new AbortController();
  const onInterrupt = (): void => ending.abort(new Error('interrupted'));
  process.once('SIGINT', onInterrupt);
  const notes: string[] = [];
  const records = new ChallengeRecords({
    providerName: providerNameOf(dns.by),
    provider,
    servers: dns.servers,
    journal: new RecordJournal(join(folder, RECORDS_FOLDER)),
    signal: ending.signal,
    onNote: (note) => notes.push(note),
  });
  const name = `_acme-challenge.${domain}`;
  const value = randomBytes(VALUE_BYTES).toString('base64url');
  const startMs = performance.now();
  const seconds = (): string => ((performance.now() - startMs) / 1_000).toFixed(1);
  try {
    io.out(`creating a TXT record at ${name} …\n`);
    const { target, isSeen } = await records.present(name, value);
    if (target !== name) io.out(`${name} is an alias of ${target}, where the record is\n`);
    if (isSeen) io.out(`every name server that answers has it after ${seconds()} s\n`);
  } finally {
    // An interrupted check removes its record, too.
    await records.cleanUp(name, value, AbortSignal.timeout(CLEAN_UP_MS));
    await provider.close();
    process.off('SIGINT', onInterrupt);
  }
  if (notes.length > 0) throw new FrontdoorError('unavailable', 'dns-record-not-visible', notes.join('; '));
  io.out(`removed: certificates for *.${domain} can be obtained with these options\n`);
}
