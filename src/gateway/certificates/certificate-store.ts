/**
 * The certificates for clients, selected by the names in them: an exact name before a wildcard of one label, a
 * valid certificate before an expired one, files before obtained ones (ADR 0056), then the one that lasts longest.
 * `reload` reads the files again; if a new one is bad, the last good certificate of its place stays in use. TLS
 * contexts are made on demand, and their number is bounded.
 */
import { createSecureContext, type SecureContext } from 'node:tls';
import { FrontdoorError, systemClock, type Clock, type Log } from '#base';
import type { Exposition } from '#net/metrics';
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

/** Each name of a file is a series in Prometheus. */
const MOST_NAMED = 100;
const DAY_MS = 86_400_000;
const WARN_DAYS = 14;
const MAX_CONTEXTS = 2_048;

export interface CertificateSources {
  /** A folder of pairs, see `findCertificates`. */
  readonly folder?: string | undefined;
  /** For clients whose server name has no certificate in the folder: files, or PEM texts that never change. */
  readonly default?: { readonly certFile: string; readonly keyFile: string } | KeyPair | undefined;
  /** Whether the default one is of an authority that clients do not know, so that another is obtained for its names. */
  readonly isDefaultStandIn?: boolean | undefined;
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
  /** Whether it was obtained from a certificate authority, and is no file of the sources. */
  readonly isAutomatic?: boolean | undefined;
}

/** A certificate that was obtained, with its host or `*.zone` as name. */
export type ObtainedCertificate = Pick<
  ServedPair,
  'name' | 'hosts' | 'notBeforeMs' | 'notAfterMs' | 'fingerprint'
>;

export interface ExpiringCertificate {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly notAfterMs: number;
}

export interface Reloaded {
  readonly certificates: number;
  readonly problems: readonly string[];
}

type HostMap = ReadonlyMap<string, ServedPair>;

interface Read {
  readonly pairs: ReadonlyMap<string, ServedPair>;
  readonly problems: ReadonlyMap<string, string>;
}

export class CertificateStore {
  readonly #options: CertificateStoreOptions;
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  /** Those of the sources, by name. */
  #pairs: ReadonlyMap<string, ServedPair> = new Map();
  /** Those that were obtained, by name. */
  #obtained: ReadonlyMap<string, ServedPair> = new Map();
  #byHost: HostMap = new Map();
  /** The certificates of files alone, by host: none that was obtained, and no stand-in. */
  #filesByHost: HostMap = new Map();
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
      store.#pairs = pairsOf(options.lastGood.filter(({ isAutomatic }) => isAutomatic !== true));
      store.#obtained = pairsOf(options.lastGood.filter(({ isAutomatic }) => isAutomatic === true));
      await store.reload();
      return store;
    }
    const { pairs, problems } = await readSources(options);
    if (problems.size > 0) {
      const summary = [...problems.values()].map((problem) => `\n  ${problem}`).join('');
      throw new FrontdoorError(
        'invalid',
        'tls-files',
        `certificates of the gateway cannot be used:${summary}`,
      );
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
    return [
      ...Array.from(this.#pairs.values(), ({ name, pair }) => ({ name, ...pair })),
      ...Array.from(this.#obtained.values(), ({ name, pair }) => ({ name, ...pair, isAutomatic: true })),
    ];
  }

  /** When the certificates of files end; those that were obtained have metrics of their own. */
  write(to: Exposition): void {
    const files = [...this.#pairs.values()].sort((a, b) => a.notAfterMs - b.notAfterMs).slice(0, MOST_NAMED);
    to.family(
      'frontdoor_gateway_tls_certificate_expiry_timestamp_seconds',
      'gauge',
      `Unix time at which the certificate of a file ends, for the ${MOST_NAMED} that end first`,
      files.map(({ name, notAfterMs }) => [{ certificate: name }, Math.floor(notAfterMs / 1_000)]),
    );
  }

  get obtained(): readonly ObtainedCertificate[] {
    return [...this.#obtained.values()];
  }

  obtainedFor(name: string): ObtainedCertificate | undefined {
    return this.#obtained.get(name);
  }

  /** Takes certificates that were obtained, each instead of the former one of its name. Returns the problems of others. */
  take(certificates: readonly KeptCertificate[]): readonly string[] {
    const obtained = new Map(this.#obtained);
    const problems: string[] = [];
    for (const { name, cert, key } of certificates) {
      const files = { certFile: `the certificate for ${name}`, keyFile: `the key for ${name}` };
      const outcome = checkServedPair(name, { cert, key }, files, true);
      if ('loaded' in outcome) obtained.set(name, outcome.loaded);
      else problems.push(outcome.problem);
    }
    this.#obtained = obtained;
    this.#arrange();
    return problems;
  }

  /**
   * Returns the context for a server name, or undefined if no certificate matches. With `clientAuthorities`
   * (PEM), the context requests a certificate of these authorities, and exists for the default certificate, too.
   */
  certificateFor(serverName: string, clientAuthorities?: readonly string[]): SecureContext | undefined {
    const served = this.#find(this.#byHost, serverName);
    if (clientAuthorities === undefined) return served && this.#context(served, undefined);
    const shown = served ?? this.#pairs.get(DEFAULT_NAME);
    return shown && this.#context(shown, clientAuthorities);
  }

  /** Whether a currently valid certificate covers this host or, for `*.rest`, the names below `rest`. */
  covers(host: string): boolean {
    return this.#validFor(this.#byHost, host) !== undefined;
  }

  /** Whether names below the zone have certificates: a wildcard, or at least one that was obtained for a single name. */
  isCertified(zone: string): boolean {
    if (this.covers(`share.${zone}`)) return true;
    const nowMs = this.#clock.nowMs();
    const isBelow = (host: string): boolean => host.slice(host.indexOf('.') + 1) === zone;
    return [...this.#obtained.values()].some((pair) => pair.hosts.some(isBelow) && isValid(pair, nowMs));
  }

  /** As `covers`, but a stand-in does not count. */
  isProvided(host: string): boolean {
    const found = this.#validFor(this.#byHost, host);
    return found !== undefined && !this.#isStandIn(found);
  }

  /** The currently valid certificate of a host, with its private key; undefined if there is none but a stand-in. */
  providedFor(host: string): KeyPair | undefined {
    return this.isProvided(host) ? this.#validFor(this.#byHost, host)?.pair : undefined;
  }

  /** When the certificate of a host ends, even in the past; undefined if there is none but a stand-in. */
  endOf(host: string): number | undefined {
    const found = this.#find(this.#byHost, host);
    return found === undefined || this.#isStandIn(found) ? undefined : found.notAfterMs;
  }

  /** As `isProvided`, by a file of the sources. */
  isProvidedByFile(host: string): boolean {
    return this.#validFor(this.#filesByHost, host) !== undefined;
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
        const summary = former.length > 0 ? 'keeping the last good certificate' : 'ignoring a certificate';
        log.error({ hop: 'gateway', certificate: name, cause: problem }, summary);
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
    for (const pair of pairs.values()) this.#warnOfDates(pair, nowMs);
    this.#pairs = pairs;
    this.#contexts = new Map();
    this.#arrange();
  }

  #arrange(): void {
    const nowMs = this.#clock.nowMs();
    const files = [...this.#pairs.values()];
    this.#filesByHost = byHostOf(
      files.filter((pair) => !this.#isStandIn(pair)),
      nowMs,
    );
    this.#byHost = byHostOf([...files, ...this.#obtained.values()], nowMs);
  }

  #isStandIn(pair: ServedPair): boolean {
    return this.#options.isDefaultStandIn === true && rankOf(pair) === 0;
  }

  #warnOfDates({ name, hosts, notBeforeMs, notAfterMs }: ServedPair, nowMs: number): void {
    const fields = { certificate: name, hosts: hosts.slice(0, 8), until: new Date(notAfterMs).toISOString() };
    const { log } = this.#options;
    if (nowMs > notAfterMs) log.warn(fields, 'certificate has expired and is still in use: replace it');
    else if (nowMs < notBeforeMs) log.warn(fields, 'certificate is in use, but not valid yet');
    else if (nowMs > notAfterMs - WARN_DAYS * DAY_MS) log.warn(fields, 'certificate expires soon');
  }

  #find(byHost: HostMap, serverName: string): ServedPair | undefined {
    const host = canonicalHost(serverName);
    return host === undefined ? undefined : selected(byHost, host, this.#clock.nowMs());
  }

  /** The certificate for a host or `*.rest`, if it is valid now. */
  #validFor(byHost: HostMap, host: string): ServedPair | undefined {
    const found = host.startsWith('*.') ? byHost.get(host.toLowerCase()) : this.#find(byHost, host);
    return found !== undefined && isValid(found, this.#clock.nowMs()) ? found : undefined;
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
  for (const { name, cert, key, isAutomatic } of kept) {
    const files = { certFile: name, keyFile: name };
    const outcome = checkServedPair(name, { cert, key }, files, isAutomatic);
    if ('loaded' in outcome) pairs.set(name, outcome.loaded);
  }
  return pairs;
}

function byHostOf(pairs: readonly ServedPair[], nowMs: number): HostMap {
  const byHost = new Map<string, ServedPair>();
  for (const pair of pairs) {
    for (const host of pair.hosts) {
      const other = byHost.get(host);
      if (other === undefined || isBetter(pair, other, nowMs)) byHost.set(host, pair);
    }
  }
  return byHost;
}

/** An exact name goes before a wildcard, unless only the wildcard is valid, or files and obtained ones meet. */
function selected(byHost: HostMap, host: string, nowMs: number): ServedPair | undefined {
  const exact = byHost.get(host);
  const dot = host.indexOf('.');
  const wildcard = dot > 0 ? byHost.get(`*${host.slice(dot)}`) : undefined;
  if (exact === undefined || wildcard === undefined) return exact ?? wildcard;
  const isExactValid = isValid(exact, nowMs);
  if (isExactValid !== isValid(wildcard, nowMs)) return isExactValid ? exact : wildcard;
  const isMixed = exact.isObtained !== wildcard.isObtained;
  return isMixed && rankOf(wildcard) > rankOf(exact) ? wildcard : exact;
}

function isValid({ notBeforeMs, notAfterMs }: ServedPair, nowMs: number): boolean {
  return nowMs >= notBeforeMs && nowMs <= notAfterMs;
}

/** Prefers, for the same host, a currently valid pair, then the higher rank, then the one that expires later. */
function isBetter(one: ServedPair, other: ServedPair, nowMs: number): boolean {
  const [isOneValid, isOtherValid] = [isValid(one, nowMs), isValid(other, nowMs)];
  if (isOneValid !== isOtherValid) return isOneValid;
  const [rank, otherRank] = [rankOf(one), rankOf(other)];
  return rank === otherRank ? one.notAfterMs > other.notAfterMs : rank > otherRank;
}

/** Pairs of the folder, then those that were obtained, then the default one. */
function rankOf({ name, isObtained }: ServedPair): number {
  if (isObtained) return 1;
  return name === DEFAULT_NAME ? 0 : 2;
}

function fingerprintsOf(pairs: ReadonlyMap<string, ServedPair>): string {
  return [...pairs]
    .map(([name, { fingerprint }]) => `${name} ${fingerprint}`)
    .sort()
    .join('\n');
}
