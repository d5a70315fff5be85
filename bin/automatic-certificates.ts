/**
 * Automatic certificates as the command line asks for them: checks the options as a whole, reads their files, and opens the
 * issuer in a gateway's data directory. ADR 0056.
 */
import { X509Certificate } from 'node:crypto';
import { access, constants, mkdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { FrontdoorError, messageOf, type Log } from '#base';
import type { AcmeCommandOptions } from '#cli';
import { AcmeIssuer, loadAccountKey, type AcmeSettings, type CertificateStore } from '#gateway';
import { readPrivateFile } from '#net/files';
import { areDnsServers } from '#net/names';
import type { AutomaticCertificates } from './gateway-part.ts';
import { checkNamesFile, readOptionFile } from './option-file.ts';
import { orderInProcess } from './order-process.ts';

const FOLDER = 'acme';
const BASE64URL = /^[A-Za-z0-9_-]+={0,2}$/;
/** What needs `acmeEmail`, by the name of the option. */
const DEPENDENT = {
  acmeDirectory: '--acme-directory',
  acmeCa: '--acme-ca',
  acmeEabKid: '--acme-eab-kid',
  acmeEabKey: '--acme-eab-key',
  acmeDnsHook: '--acme-dns-hook',
  acmeDnsServer: '--acme-dns-server',
} as const satisfies Partial<Record<keyof AcmeCommandOptions, string>>;
const LETS_ENCRYPT = 'https://acme-v02.api.letsencrypt.org/directory';

/** Undefined when automatic certificates are off. Rejects with `acme-options`, or `unreadable` for a file. */
export async function acmeSettingsOf(options: AcmeCommandOptions): Promise<AcmeSettings | undefined> {
  const { acmeEmail: email, acmeDnsHook, acmeDnsServer } = options;
  if (email === undefined) {
    for (const [name, flag] of Object.entries(DEPENDENT))
      if (options[name as keyof typeof DEPENDENT] !== undefined) throw refused(`${flag} needs --acme-email`);
    return undefined;
  }
  if (acmeDnsServer !== undefined && acmeDnsHook === undefined)
    throw refused('--acme-dns-server needs --acme-dns-hook');
  return {
    email,
    directoryUrl: options.acmeDirectory ?? LETS_ENCRYPT,
    caPem: options.acmeCa === undefined ? undefined : caOf(options.acmeCa),
    binding: await bindingOf(options),
    dns:
      acmeDnsHook === undefined
        ? undefined
        : { hook: await programOf(acmeDnsHook), servers: serversOf(acmeDnsServer ?? []) },
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
  const folder = join(options.dataDir, FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const account = await loadAccountKey(join(folder, 'account.key'));
  const onNote = (note: string): void => log.warn({ hop: 'gateway' }, note);
  const { dns, directoryUrl } = settings;
  const source = await AcmeIssuer.open({
    folder,
    directoryUrl,
    store: certificates,
    obtain: (name, signal) => {
      const order = { settings, accountKeyPem: account.keyPem, version, name };
      return orderInProcess({ order, signal, onNote });
    },
    remedy:
      dns === undefined
        ? 'see that the name leads to this gateway, and that its port 80 reaches --http-port from the internet'
        : 'see that the DNS hook creates the TXT record in the zone that the internet sees',
    log,
  });
  const { length } = certificates.obtained;
  log.info(
    { directory: directoryUrl, method: dns === undefined ? 'HTTP-01' : 'DNS-01', certificates: length },
    'certificates are obtained automatically',
  );
  return { source, thumbprint: dns === undefined ? account.thumbprint : undefined };
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

function serversOf(servers: readonly string[]): readonly string[] {
  if (areDnsServers(servers)) return servers;
  throw refused('--acme-dns-server takes addresses, such as 192.0.2.53 or [2001:db8::53]:53');
}

/** Absolute path of a program. It is not searched for, so that it is the same one at each start. */
async function programOf(path: string): Promise<string> {
  const program = resolve(path);
  try {
    if (!(await stat(program)).isFile()) throw new Error('it is not a file');
    await access(program, constants.X_OK);
  } catch (cause) {
    throw refused(`--acme-dns-hook: ${program} cannot be run: ${messageOf(cause)}`);
  }
  return program;
}

function refused(message: string): FrontdoorError {
  return new FrontdoorError('invalid', 'acme-options', message);
}
