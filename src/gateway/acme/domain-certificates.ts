/**
 * What a gateway reports of the certificates of shares' domains: first those whose order has just ended, then all of them by
 * turns, so that a report is small with any number of domains, and the next round repeats what was in a lost one.
 */
import {
  MAX_CERTIFICATE_PROBLEM,
  MAX_REPORTED_DOMAINS,
  type DomainCertificate,
} from '#domain/gateway-shapes';
import type { CertificateStore } from '../certificates/certificate-store.ts';
import type { IssueEvent, IssueFailure } from './certificate-source.ts';

/** Names of all shares that one report goes through, which takes a millisecond. */
const MOST_NAMES = 5_000;
/** The oldest is forgotten first. The control plane keeps what was reported. */
const MAX_FAILURES = 2_000;

/** A name of a share, as the gateway's table has it. */
export interface NamedShare {
  readonly host: string;
  readonly isDomain: boolean;
  readonly route: { readonly share: { readonly id: string } };
}

export interface DomainCertificatesOptions {
  readonly table: () => {
    readonly find: (host: string) => NamedShare | undefined;
    readonly entries: () => Iterator<NamedShare>;
  };
  readonly certificates: Pick<CertificateStore, 'endOf'>;
}

export class DomainCertificates {
  readonly #options: DomainCertificatesOptions;
  readonly #failures = new Map<string, IssueFailure>();
  /** Domains whose order has ended since the last report. */
  #changed = new Set<string>();
  #turn: Iterator<NamedShare> | undefined;

  constructor(options: DomainCertificatesOptions) {
    this.#options = options;
  }

  /** Returns whether there is something new to report. */
  note({ name, outcome, failure }: IssueEvent): boolean {
    if (this.#options.table().find(name)?.isDomain !== true) return false;
    if (outcome !== 'obtained') {
      if (failure === undefined) return false;
      // Handshakes repeat a refusal every few seconds.
      const known = this.#failures.get(name);
      if (known?.problem === failure.problem && known.retryAtMs === failure.retryAtMs) return false;
    }
    this.#failures.delete(name);
    if (failure !== undefined) this.#failures.set(name, failure);
    if (this.#failures.size > MAX_FAILURES) this.#failures.delete(this.#failures.keys().next().value!);
    if (this.#changed.size < MAX_REPORTED_DOMAINS) this.#changed.add(name);
    return true;
  }

  /** The next part, without repetition. */
  next(): DomainCertificate[] {
    const table = this.#options.table();
    const names = this.#changed;
    this.#changed = new Set();
    this.#turn ??= table.entries();
    for (let steps = 0; steps < MOST_NAMES && names.size < MAX_REPORTED_DOMAINS; steps += 1) {
      const { done, value } = this.#turn.next();
      if (done === true) {
        this.#turn = undefined;
        break;
      }
      if (value.isDomain) names.add(value.host);
    }
    return [...names].flatMap((host) => {
      const entry = table.find(host);
      return entry?.isDomain === true ? [this.#stateOf(entry)] : [];
    });
  }

  #stateOf({ host, route }: NamedShare): DomainCertificate {
    const failure = this.#failures.get(host);
    return {
      host,
      shareId: route.share.id,
      validUntilMs: this.#options.certificates.endOf(host) ?? null,
      problem: failure?.problem.slice(0, MAX_CERTIFICATE_PROBLEM).toWellFormed() ?? null,
      retryAtMs: failure?.retryAtMs ?? null,
    };
  }
}
