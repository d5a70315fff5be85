/**
 * Removes the certificate that a renewal replaced, once the new one was used. Called for every authenticated
 * caller; queries the store only for identities with more than one certificate.
 */
import { messageOf, type Log } from '#base';
import { dropReplacedCertificates, type CertificateParts } from './certificate-changes.ts';
import type { ProvenPeer } from './peer-identity.ts';

export class ReplacedCertificates {
  readonly #parts: CertificateParts;
  readonly #log: Log;
  readonly #running = new Map<string, Promise<void>>();
  /** When a fingerprint was last found to be the older one. It is checked again after a while. */
  readonly #older = new Map<string, number>();

  constructor(parts: CertificateParts, log: Log) {
    this.#parts = parts;
    this.#log = log;
  }

  saw(peer: ProvenPeer): void {
    const { identity, leaf } = peer;
    if (identity.fingerprints.length < 2 || this.#running.has(identity.id)) return;
    if (this.#parts.clock.nowMs() - (this.#older.get(leaf.fingerprint) ?? -Infinity) < 60_000) return;
    const work = this.#dropOlder(identity, leaf.fingerprint)
      .catch((error: unknown) =>
        this.#log.warn(
          { identity: identity.id, error: messageOf(error) },
          'a replaced certificate could not be removed',
        ),
      )
      .finally(() => this.#running.delete(identity.id));
    this.#running.set(identity.id, work);
  }

  /** Resolves when no removal is running. */
  async idle(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  async #dropOlder(identity: ProvenPeer['identity'], usedFingerprint: string): Promise<void> {
    const dropped = await dropReplacedCertificates(this.#parts, identity, usedFingerprint);
    if (dropped === 0) {
      if (this.#older.size > 10_000) this.#older.clear();
      this.#older.set(usedFingerprint, this.#parts.clock.nowMs());
    } else {
      this.#older.delete(usedFingerprint);
      this.#log.info(
        { identity: identity.id, dropped },
        'the renewed certificate is in use; older ones were removed',
      );
    }
  }
}
