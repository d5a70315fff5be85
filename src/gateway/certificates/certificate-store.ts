/**
 * The certificates for clients, selected by the names in them: an exact name before a wildcard of one label, a
 * valid certificate before an expired one, then the one that lasts longest. `reload` reads them again; if a new
 * file is bad, the last good certificate of its place stays in use. TLS contexts are made on demand, and their
 * number is bounded.
 */
import { createSecureContext, type SecureContext } from 'node:tls';
import { FrontdoorError, systemClock, type Clock, type Log } from '#base';
import { canonicalHost } from '../http/host-policy.ts';
import { findCertificates } from './certificate-folder.ts';
import {
  checkServedPair,
  DEFAULT_NAME,
  loadServedPair,
  type KeyPair,
  type LoadedPair,
  type ServedPair,
} from './served-pair.ts';

const DAY_MS = 86_400_000;
const WARN_DAYS = 14;
const MAX_CONTEXTS = 2_048;

export interface CertificateSources {
  /** A folder of pairs, see `findCertificates`. */
  readonly folder?: string | undefined;
  /** For clients whose server name has no certificate in the folder: files, or PEM texts that never change. */
  readonly default?: { readonly certFile: string; readonly keyFile: string } | KeyPair | undefined;
}

export interface CertificateStoreOptions extends CertificateSources {
  /** Certificates that another store had of the same sources. They replace bad files, so that the start never fails. */
  readonly lastGood?: readonly KeptCertificate[] | undefined;
  readonly log: Log;
  readonly clock?: Clock;
}

/** PEM texts; `name` is the one in the log. */
export interface KeptCertificate extends KeyPair {
  readonly name: string;
}

export interface ExpiringCertificate {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly notAfterMs: number;
}

export interface Reloaded {
  readonly certificates: number;
  readonly problems: readonly string[];
}

interface Read {
  readonly pairs: ReadonlyMap<string, ServedPair>;
  readonly problems: ReadonlyMap<string, string>;
}

export class CertificateStore {
  readonly #options: CertificateStoreOptions;
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  #pairs: ReadonlyMap<string, ServedPair> = new Map();
  #byHost = new Map<string, ServedPair>();
  #contexts = new Map<string, SecureContext>();
  #reloading: Promise<Reloaded> | undefined;
  #isAskedAgain = false;

  private constructor(options: CertificateStoreOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Rejects with `invalid` and all problems at once. */
  static async open(options: CertificateStoreOptions): Promise<CertificateStore> {
    const store = new CertificateStore(options);
    if (options.lastGood !== undefined) {
      store.#pairs = pairsOf(options.lastGood);
      await store.reload();
      return store;
    }
    const { pairs, problems } = await readSources(options);
    if (problems.size > 0) {
      const said = [...problems.values()].map((problem) => `\n  ${problem}`).join('');
      throw new FrontdoorError('invalid', 'tls-files', `certificates of the gateway cannot be used:${said}`);
    }
    store.#take(pairs);
    return store;
  }

  /** For clients without a server name, or with one that no certificate has. */
  get defaultCertificate(): KeyPair | undefined {
    return this.#pairs.get(DEFAULT_NAME)?.pair;
  }

  /** All certificates with their private keys, for another process that serves the same names. */
  get kept(): KeptCertificate[] {
    return [...this.#pairs.values()].map(({ name, pair }) => ({ name, ...pair }));
  }

  /**
   * Returns the context for a server name, or undefined if no certificate matches. With `clientAuthorities`
   * (PEM), the context requests a certificate of these authorities, and exists for the default certificate, too.
   */
  certificateFor(serverName: string, clientAuthorities?: readonly string[]): SecureContext | undefined {
    const served = this.#find(serverName);
    if (clientAuthorities === undefined) return served && this.#context(served, undefined);
    const shown = served ?? this.#pairs.get(DEFAULT_NAME);
    return shown && this.#context(shown, clientAuthorities);
  }

  /** Whether a currently valid certificate covers this host or, for `*.rest`, the names below `rest`. */
  covers(host: string): boolean {
    const found = host.startsWith('*.') ? this.#byHost.get(host.toLowerCase()) : this.#find(host);
    return found !== undefined && isValid(found, this.#clock.nowMs());
  }

  /** Returns the certificates that expire within so many days, the earliest first. */
  expiring(days: number): ExpiringCertificate[] {
    const beforeMs = this.#clock.nowMs() + days * DAY_MS;
    return [...this.#pairs.values()]
      .filter(({ notAfterMs }) => notAfterMs <= beforeMs)
      .sort((a, b) => a.notAfterMs - b.notAfterMs)
      .map(({ name, hosts, notAfterMs }) => ({ name, hosts, notAfterMs }));
  }

  /** Calls the listener after each reload that changed something. Returns a function that removes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Reads all files again. A call during a reload causes another one afterwards. Never rejects: problems are
   * logged and returned.
   */
  reload(): Promise<Reloaded> {
    if (this.#reloading !== undefined) this.#isAskedAgain = true;
    this.#reloading ??= this.#reload().finally(() => {
      this.#reloading = undefined;
    });
    return this.#reloading;
  }

  async #reload(): Promise<Reloaded> {
    const { log } = this.#options;
    for (;;) {
      this.#isAskedAgain = false;
      const { pairs, problems } = await readSources(this.#options);
      const kept = new Map(pairs);
      for (const [name, problem] of problems) {
        // If the folder cannot be read, all of its certificates stay in use.
        const isWhole = name === this.#options.folder;
        const former = [...this.#pairs.values()].filter((one) =>
          isWhole ? one.name !== DEFAULT_NAME : one.name === name,
        );
        for (const pair of former) kept.set(pair.name, pair);
        const said = former.length > 0 ? 'keeping the last good certificate' : 'ignoring a certificate';
        log.error({ hop: 'gateway', certificate: name, cause: problem }, said);
      }
      const before = fingerprintsOf(this.#pairs);
      this.#take(kept);
      if (before !== fingerprintsOf(kept)) for (const listener of this.#listeners) listener();
      log.info({ certificates: kept.size, problems: problems.size }, 'certificates reloaded');
      if (!this.#isAskedAgain) return { certificates: kept.size, problems: [...problems.values()] };
    }
  }

  #take(pairs: ReadonlyMap<string, ServedPair>): void {
    const nowMs = this.#clock.nowMs();
    const byHost = new Map<string, ServedPair>();
    for (const pair of pairs.values()) {
      for (const host of pair.hosts) {
        const other = byHost.get(host);
        if (other === undefined || isBetter(pair, other, nowMs)) byHost.set(host, pair);
      }
      this.#warnOfDates(pair, nowMs);
    }
    this.#pairs = pairs;
    this.#byHost = byHost;
    this.#contexts = new Map();
  }

  #warnOfDates({ name, hosts, notBeforeMs, notAfterMs }: ServedPair, nowMs: number): void {
    const fields = { certificate: name, hosts: hosts.slice(0, 8), until: new Date(notAfterMs).toISOString() };
    const { log } = this.#options;
    if (nowMs > notAfterMs) log.warn(fields, 'certificate has expired and is still in use: replace it');
    else if (nowMs < notBeforeMs) log.warn(fields, 'certificate is in use, but not valid yet');
    else if (nowMs > notAfterMs - WARN_DAYS * DAY_MS) log.warn(fields, 'certificate expires soon');
  }

  #find(serverName: string): ServedPair | undefined {
    const host = canonicalHost(serverName);
    if (host === undefined) return undefined;
    const exact = this.#byHost.get(host);
    if (exact !== undefined) return exact;
    const dot = host.indexOf('.');
    return dot > 0 ? this.#byHost.get(`*${host.slice(dot)}`) : undefined;
  }

  #context({ pair, fingerprint }: ServedPair, authorities: readonly string[] | undefined): SecureContext {
    const key = authorities === undefined ? fingerprint : `${fingerprint} ${authorities.join('\n')}`;
    let context = this.#contexts.get(key);
    if (context !== undefined) return context;
    // An owner may name an intermediate authority: it is trusted, the one above it is not.
    const ca = authorities === undefined ? {} : { ca: [...authorities], allowPartialTrustChain: true };
    context = createSecureContext({ ...pair, ...ca });
    // Evicts the oldest context, which is made again on demand.
    if (this.#contexts.size >= MAX_CONTEXTS) this.#contexts.delete(this.#contexts.keys().next().value!);
    this.#contexts.set(key, context);
    return context;
  }
}

async function readSources({ folder, default: fallback }: CertificateSources): Promise<Read> {
  const pairs = new Map<string, ServedPair>();
  const problems = new Map<string, string>();
  const take = (name: string, outcome: LoadedPair): void => {
    if ('loaded' in outcome) pairs.set(name, outcome.loaded);
    else problems.set(name, outcome.problem);
  };
  if (folder !== undefined) {
    const found = await findCertificates(folder);
    for (const { name, problem } of found.problems) problems.set(name, problem);
    for (const files of found.pairs) {
      if (problems.has(files.name)) continue;
      // The default certificate has a key of its own, even if the folder has a pair of that name.
      const name = files.name === DEFAULT_NAME ? `${folder}/${DEFAULT_NAME}` : files.name;
      take(name, await loadServedPair({ ...files, name }));
    }
  }
  if (fallback !== undefined) {
    const files = { certFile: 'the default certificate', keyFile: 'the key of the default certificate' };
    take(
      DEFAULT_NAME,
      'certFile' in fallback
        ? await loadServedPair({ name: DEFAULT_NAME, ...fallback })
        : checkServedPair(DEFAULT_NAME, fallback, files),
    );
  }
  return { pairs, problems };
}

function pairsOf(kept: readonly KeptCertificate[]): Map<string, ServedPair> {
  const pairs = new Map<string, ServedPair>();
  for (const { name, cert, key } of kept) {
    const outcome = checkServedPair(name, { cert, key }, { certFile: name, keyFile: name });
    if ('loaded' in outcome) pairs.set(name, outcome.loaded);
  }
  return pairs;
}

function isValid({ notBeforeMs, notAfterMs }: ServedPair, nowMs: number): boolean {
  return nowMs >= notBeforeMs && nowMs <= notAfterMs;
}

/** Prefers, for the same host, a currently valid pair, then one of the folder, then the one that expires later. */
function isBetter(one: ServedPair, other: ServedPair, nowMs: number): boolean {
  const [isOneValid, isOtherValid] = [isValid(one, nowMs), isValid(other, nowMs)];
  if (isOneValid !== isOtherValid) return isOneValid;
  const isOneDefault = one.name === DEFAULT_NAME;
  if (isOneDefault !== (other.name === DEFAULT_NAME)) return !isOneDefault;
  return one.notAfterMs > other.notAfterMs;
}

function fingerprintsOf(pairs: ReadonlyMap<string, ServedPair>): string {
  return [...pairs]
    .map(([name, { fingerprint }]) => `${name} ${fingerprint}`)
    .sort()
    .join('\n');
}
