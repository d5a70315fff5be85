/**
 * Automatic certificates as the command line asks for them: checks the options as a whole, reads their files, and opens the
 * issuer in a gateway's data directory. ADR 0056.
 */
import { X509Certificate } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { FrontdoorError, type Log } from '#base';
import { LETS_ENCRYPT, type AcmeCommandOptions } from '#cli';
import {
  AcmeIssuer,
  loadAccountKey,
  openDnsProvider,
  providerNameOf,
  RecordJournal,
  RecordSweeper,
  type AcmeSettings,
  type CertificateStore,
  type DnsSettings,
} from '#gateway';
import { outwardDialerOf } from '#net';
import { readPrivateFile } from '#net/files';
import { dnsSettingsOf } from './dns-provider-options.ts';
import type { AutomaticCertificates } from './gateway-demand.ts';
import { checkNamesFile, readOptionFile } from './option-file.ts';
import { RECORDS_FOLDER } from './order-messages.ts';
import { orderInProcess } from './order-process.ts';

/** The folder of the account, the state and the certificates in the data directory of a gateway. */
export const ACME_FOLDER = 'acme';
const BASE64URL = /^[A-Za-z0-9_-]+={0,2}$/;
/** What needs `acmeEmail`, by the name of the option. */
const DEPENDENT = {
  acmeDirectory: '--acme-directory',
  acmeCa: '--acme-ca',
  acmeEabKid: '--acme-eab-kid',
  acmeEabKey: '--acme-eab-key',
  acmeDnsProvider: '--acme-dns-provider',
  acmeDnsSetting: '--acme-dns-setting',
  acmeDnsHook: '--acme-dns-hook',
  acmeDnsServer: '--acme-dns-server',
} as const satisfies Partial<Record<keyof AcmeCommandOptions, string>>;

/** Undefined when automatic certificates are off. Rejects with `acme-options`, or `unreadable` for a file. */
export async function acmeSettingsOf(options: AcmeCommandOptions): Promise<AcmeSettings | undefined> {
  const { acmeEmail: email } = options;
  if (email === undefined) {
    for (const [name, flag] of Object.entries(DEPENDENT))
      if (options[name as keyof typeof DEPENDENT] !== undefined) throw refused(`${flag} needs --acme-email`);
    return undefined;
  }
  return {
    email,
    directoryUrl: options.acmeDirectory ?? LETS_ENCRYPT,
    caPem: options.acmeCa === undefined ? undefined : caOf(options.acmeCa),
    binding: await bindingOf(options),
    dns: await dnsSettingsOf(options),
  };
}

export interface IssuerOptions {
  readonly settings: AcmeSettings;
  /** The data directory of the gateway. */
  readonly dataDir: string;
  readonly certificates: CertificateStore;
  readonly version: string;
  readonly log: Log;
}

/** Rejects with `acme-account`, or with the error of the disk. */
export async function openIssuer(options: IssuerOptions): Promise<AutomaticCertificates> {
  const { settings, certificates, version, log } = options;
  const folder = join(options.dataDir, ACME_FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const account = await loadAccountKey(join(folder, 'account.key'));
  const onNote = (note: string): void => log.warn({ hop: 'gateway' }, note);
  const { dns, directoryUrl } = settings;
  const records = dns && sweeperOf(dns, folder, log);
  records?.start();
  const source = await AcmeIssuer.open({
    folder,
    directoryUrl,
    store: certificates,
    obtain: (name, signal) => {
      const order = { settings, accountKeyPem: account.keyPem, version, name, folder };
      return orderInProcess({ order, signal, onNote });
    },
    remedy:
      dns === undefined
        ? 'see that the name leads to this gateway, and that its port 80 reaches --http-port from the internet'
        : 'see that the TXT record can be created in the zone that the internet sees: try "frontdoor gateway dns-check"',
    records,
    log,
  });
  const { length } = certificates.obtained;
  log.info(
    { directory: directoryUrl, method: dns === undefined ? 'HTTP-01' : 'DNS-01', certificates: length },
    'certificates are obtained automatically',
  );
  return { source, thumbprint: account.thumbprint, hasWildcards: dns !== undefined };
}

function sweeperOf({ by }: DnsSettings, folder: string, log: Log): RecordSweeper {
  const surroundings = { folder, environment: process.env, outward: outwardDialerOf(process.env) };
  return new RecordSweeper({
    journal: new RecordJournal(join(folder, RECORDS_FOLDER)),
    providerName: providerNameOf(by),
    open: () => openDnsProvider(by, surroundings),
    log,
  });
}

async function bindingOf({
  acmeEabKid: kid,
  acmeEabKey: file,
}: AcmeCommandOptions): Promise<AcmeSettings['binding']> {
  if (kid === undefined && file === undefined) return undefined;
  if (kid === undefined || file === undefined)
    throw refused('--acme-eab-kid needs --acme-eab-key beside it, and the other way round');
  checkNamesFile(file, '--acme-eab-key');
  const read = await readPrivateFile(file);
  if ('problem' in read) throw refused(`--acme-eab-key: ${file} is refused: ${read.problem}`);
  const hmacKey = read.text.trim();
  if (!BASE64URL.test(hmacKey))
    throw refused(`--acme-eab-key: ${file} does not hold one key in base64url, as the authority shows it`);
  return { kid, hmacKey };
}

function caOf(file: string): string {
  const pem = readOptionFile(file, '--acme-ca');
  try {
    new X509Certificate(pem);
  } catch {
    throw refused(`--acme-ca: ${file} holds no certificate in PEM form`);
  }
  return pem;
}

function refused(message: string): FrontdoorError {
  return new FrontdoorError('invalid', 'acme-options', message);
}
