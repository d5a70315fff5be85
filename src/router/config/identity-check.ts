/**
 * Checks the files that `identity` sections name: whether each can be read and parsed, whether keys match certificates,
 * whether certificates are valid now and for 30 days more, and whether the server certificates contain the names that
 * the router advertises. Reports all problems at once.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { messageOf, systemClock, type Secret } from '#base';
import { EXPIRY_RULE, expiryOf, isRenewalLate } from './certificate-expiry.ts';
import { placeAt, type FileNode } from './file-tree.ts';
import { ProblemList } from './problem-list.ts';
import type { ConfigProblem, IdentityConfig, RouterConfig } from './router-config.ts';
import { isInlinePem } from './text-kinds.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
const MAX_NAMES_SHOWN = 10;
const RENEWED_KEYS = ['cert', 'server_cert'];

/** `root` is the tree of the file, from which problems get their positions. */
export function checkIdentityFiles(
  config: RouterConfig,
  root: FileNode,
  nowMs = systemClock.nowMs(),
): readonly ConfigProblem[] {
  const problems = new ProblemList(root);
  const context = { problems, root, nowMs, renews: config.csr !== undefined };
  const servers = new IdentityCheck(context, 'identity').check(config.identity);
  for (const { path, identity } of config.web)
    if (identity !== undefined)
      new IdentityCheck({ ...context, renews: false }, `${path}.identity`).check(identity);
  if (servers !== undefined) checkAdvertised(config, root, servers, problems);
  return problems.all();
}

interface CheckContext {
  readonly problems: ProblemList;
  readonly root: FileNode;
  readonly nowMs: number;
  /** Whether the running router renews `cert` and `server_cert`. */
  readonly renews: boolean;
}

class IdentityCheck {
  readonly #context: CheckContext;
  readonly #at: string;

  constructor(context: CheckContext, at: string) {
    this.#context = context;
    this.#at = at;
  }

  /**
   * Returns the leaf certificates for serving, or the client's if there are no others; undefined when one could not be
   * read.
   */
  check(identity: IdentityConfig): readonly X509Certificate[] | undefined {
    const { cert, key, serverCert, serverKey, ca, alternates } = identity;
    const client = this.#certificates('cert', cert);
    const clientKey = this.#readKey('key', key);
    this.#certificates('ca', ca);
    if (client !== undefined && clientKey !== undefined)
      this.#checkKey('key', clientKey, 'cert', client.slice(0, 1));
    const pairs = [
      ...(serverCert === undefined ? [] : [{ name: 'server', serverCert, serverKey }]),
      ...alternates.map((one, i) => ({ name: `alt_server_certs[${i}].server`, ...one })),
    ];
    const served = pairs.map((pair) => {
      const leaves = this.#certificates(`${pair.name}_cert`, pair.serverCert)?.filter(
        (one, i) => i === 0 || !one.ca,
      );
      const keyName = pair.serverKey === undefined ? 'key' : `${pair.name}_key`;
      const text = pair.serverKey === undefined ? clientKey : this.#readKey(keyName, pair.serverKey);
      if (leaves !== undefined && text !== undefined)
        this.#checkKey(keyName, text, `${pair.name}_cert`, leaves);
      return leaves;
    });
    if (client === undefined || served.includes(undefined)) return undefined;
    const leaves = served.flatMap((some) => some ?? []);
    return leaves.length === 0 ? client.slice(0, 1) : leaves;
  }

  #certificates(key: string, location: string): readonly X509Certificate[] | undefined {
    const pem = this.#read(key, location);
    if (pem === undefined) return undefined;
    const found = certificatesIn(pem);
    if (found.length > 0) {
      this.#checkExpiry(key, location, found);
      return found;
    }
    this.#report(key, 'certificate', 'holds no certificate');
    return undefined;
  }

  #checkExpiry(key: string, location: string, found: readonly X509Certificate[]): void {
    const { root, nowMs, renews } = this.#context;
    // Without `ca`, the authorities are those of the system, which the file does not name.
    if (placeAt(root, `${this.#at}.${key}`).node === undefined) return;
    const isInline = isInlinePem(location);
    const expiry = expiryOf(found, nowMs, isInline ? undefined : location, key === 'ca');
    if (expiry === undefined) return;
    const { severity, message } = expiry;
    const isRenewed = severity === 'warning' && renews && !isInline && RENEWED_KEYS.includes(key);
    if (isRenewed && !isRenewalLate(found, nowMs)) return;
    this.#report(key, EXPIRY_RULE, isRenewed ? `${message}; a running router renews it` : message, severity);
  }

  #checkKey(key: string, pem: string, certKey: string, leaves: readonly X509Certificate[]): void {
    try {
      const privateKey = createPrivateKey(pem);
      if (!leaves.every((leaf) => leaf.checkPrivateKey(privateKey)))
        this.#report(key, 'key', `is not the key of ${this.#at}.${certKey}`);
    } catch {
      this.#report(key, 'key', 'holds no private key that can be read');
    }
  }

  #read(key: string, location: string): string | undefined {
    if (isInlinePem(location)) return location.replace(/^pem:/, '');
    try {
      return readFileSync(location, 'utf8');
    } catch (error) {
      this.#report(key, 'file', `cannot be read: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** The value may be a key in another form than PEM, which no message may contain. */
  #readKey(key: string, location: Secret): string | undefined {
    const text = location.reveal();
    if (isInlinePem(text) || existsSync(text)) return this.#read(key, text);
    this.#report(key, 'file', 'names a file that does not exist');
    return undefined;
  }

  #report(key: string, rule: string, message: string, severity: 'error' | 'warning' = 'error'): void {
    this.#context.problems.report(severity, `${this.#at}.${key}`, rule, message, key.endsWith('key'));
  }
}

function certificatesIn(pem: string): X509Certificate[] {
  return [...pem.matchAll(CERTIFICATE)].flatMap(([text]) => {
    try {
      return [new X509Certificate(text)];
    } catch {
      // PEM blocks that contain no certificate are skipped, as in OpenZiti.
      return [];
    }
  });
}

/**
 * OpenZiti refuses to start with an advertised name that is missing in the certificate, because peers would refuse it.
 */
function checkAdvertised(
  config: RouterConfig,
  root: FileNode,
  servers: readonly X509Certificate[],
  problems: ProblemList,
): void {
  for (const { path, host } of advertisedHosts(config, root)) {
    if (servers.some((certificate) => isFor(certificate, host))) continue;
    const names = servers.flatMap(({ subjectAltName }) => subjectAltName?.split(', ') ?? []);
    const shown = names.slice(0, MAX_NAMES_SHOWN).join(', ') || 'nothing';
    problems.error(
      path,
      'advertise',
      `${host} is no name of the server certificates, which are for: ${shown}`,
    );
  }
}

/**
 * Checks before an enrollment that the certificate request names every advertised host, unless one of the alternate
 * certificates does: with others, the router would not start.
 */
export function checkRequestedNames(config: RouterConfig, root: FileNode): readonly ConfigProblem[] {
  const { csr, identity } = config;
  // Enrollment refuses these files with an error of their own.
  if (csr === undefined || csr.hosts.length + csr.uris.length + csr.emails.length === 0) return [];
  const problems = new ProblemList(root);
  const alternates = identity.alternates.flatMap(({ serverCert }) => readableCertificates(serverCert));
  for (const { path, host } of advertisedHosts(config, root)) {
    if (csr.hosts.some((name) => covers(name, host))) continue;
    if (alternates.some((certificate) => isFor(certificate, host))) continue;
    const shown = csr.hosts.slice(0, MAX_NAMES_SHOWN).join(', ') || 'no host';
    const message = `${host} is not requested for the certificates, and dialers would refuse them: csr.sans names ${shown}`;
    problems.error(path, 'advertise', message);
  }
  return problems.all();
}

function advertisedHosts(config: RouterConfig, root: FileNode): { path: string; host: string }[] {
  return [
    ...(config.link?.listeners ?? []).map(({ path, advertise }) => ({
      path: `${path}.advertise`,
      host: advertise.host,
    })),
    ...config.listeners.flatMap((listener) =>
      listener.binding === 'edge'
        ? [{ path: advertisePath(root, listener.path), host: listener.advertise.host }]
        : [],
    ),
  ];
}

/** A name is a DNS name, perhaps with `*` for its first label, or an IP literal. */
function covers(name: string, host: string): boolean {
  if (isIP(name) !== 0 || isIP(host) !== 0)
    return isIP(name) === isIP(host) && canonicalIp(name) === canonicalIp(host);
  const [wanted, given] = [host.toLowerCase(), name.toLowerCase()];
  return given === wanted || (given.startsWith('*.') && given.slice(1) === wanted.replace(/^[^.]+/, ''));
}

function canonicalIp(address: string): string {
  return isIP(address) === 6 ? new URL(`http://[${address}]`).hostname : address;
}

/** Files that cannot be read contain no certificate: `check --files` reports them. */
function readableCertificates(location: string): readonly X509Certificate[] {
  try {
    return certificatesIn(isInlinePem(location) ? location : readFileSync(location, 'utf8'));
  } catch {
    return [];
  }
}

function advertisePath(root: FileNode, listener: string): string {
  const inside = `${listener}.options.advertise`;
  return placeAt(root, inside).node === undefined ? `${listener}.advertise` : inside;
}

function isFor(certificate: X509Certificate, host: string): boolean {
  return isIP(host) === 0
    ? certificate.checkHost(host, { subject: 'never' }) !== undefined
    : certificate.checkIP(host) !== undefined;
}
