/**
 * The supervisor's issuer as its worker sees it: wanted names go over the pipe, certificates and outcomes come back. The
 * worker's store takes what arrives, so that a full disk of the supervisor keeps no certificate from being served.
 */
import type { CertificateSource, CertificateStore, NeededCertificate, IssueEvent } from '#gateway';
import type { FromWorker, ToWorker } from './worker-messages.ts';

/** More than the issuer lets wait. */
const MAX_NAMES = 500;

export class WorkerCertificates implements CertificateSource {
  readonly #store: CertificateStore;
  readonly #send: (message: FromWorker) => void;
  readonly #listeners = new Set<(event: IssueEvent) => void>();

  constructor(store: CertificateStore, send: (message: FromWorker) => void) {
    this.#store = store;
    this.#send = send;
  }

  want(needed: readonly NeededCertificate[]): readonly string[] {
    const some = needed.slice(0, MAX_NAMES);
    this.#send({ type: 'wanted', names: some.map(({ name }) => name), needed: some });
    return [];
  }

  follow(listener: (event: IssueEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onOutcome({ name, outcome, certificate, failure }: Extract<ToWorker, { type: 'certificate' }>): void {
    if (certificate !== null) this.#store.take([certificate]);
    const event = {
      name,
      outcome,
      certificate: certificate ?? undefined,
      failure: failure ?? undefined,
    };
    for (const listener of this.#listeners) listener(event);
  }

  /** The supervisor does it. */
  retry(): void {}

  /** Orders continue at the supervisor. */
  close(): Promise<void> {
    this.#listeners.clear();
    return Promise.resolve();
  }
}
