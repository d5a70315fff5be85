/**
 * The keys of bearer tokens in memory: the newest active one signs, all verify until they expire, and newly
 * stored ones are added.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { exportJWK, type JWK } from 'jose';
import { FrontdoorError, type Clock } from '#base';
import type { Secrets } from '../../secrets/mod.ts';
import { concerns, type Store } from '../../store/mod.ts';
import { listSigningKeys } from './signing-key-store.ts';

export interface TokenKey {
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly jwk: JWK;
  readonly activatesAtMs: number;
  readonly expiresAtMs: number | null;
}

export class TokenKeys {
  readonly #store: Store;
  readonly #secrets: Secrets;
  readonly #clock: Clock;
  #keys: readonly TokenKey[] = [];

  private constructor(store: Store, secrets: Secrets, clock: Clock) {
    this.#store = store;
    this.#secrets = secrets;
    this.#clock = clock;
  }

  /** Rejects with errors of the store. */
  static async load(store: Store, secrets: Secrets, clock: Clock): Promise<TokenKeys> {
    const keys = new TokenKeys(store, secrets, clock);
    store.onChange((changes) => (concerns(changes, 'signing-key') ? keys.#read() : undefined));
    await keys.#read();
    return keys;
  }

  /** Returns the current signing key. Throws `unavailable` if there is none. */
  signing(): TokenKey {
    const nowMs = this.#clock.nowMs();
    const key = this.valid().find(({ activatesAtMs }) => activatesAtMs <= nowMs);
    if (key === undefined) throw new FrontdoorError('unavailable', 'no-signing-key', 'no key signs tokens');
    return key;
  }

  byId(id: string): TokenKey | undefined {
    return this.valid().find((key) => key.id === id);
  }

  /** Returns the keys by activation, the latest first, including one that does not sign yet. */
  valid(): readonly TokenKey[] {
    const nowMs = this.#clock.nowMs();
    return this.#keys.filter((key) => key.expiresAtMs === null || key.expiresAtMs > nowMs);
  }

  async #read(): Promise<void> {
    const stored = await listSigningKeys(this.#store.db, this.#secrets, 'bearer', this.#clock.nowMs());
    this.#keys = await Promise.all(
      stored.map(async (key) => {
        const publicKey = createPublicKey(key.publicKeyPem);
        const jwk = { ...(await exportJWK(publicKey)), kid: key.id, use: 'sig', alg: 'ES256' };
        const privateKey = createPrivateKey(key.privateKeyPem);
        const { id, activatesAtMs, expiresAtMs } = key;
        return { id, privateKey, publicKey, jwk, activatesAtMs, expiresAtMs };
      }),
    );
  }
}
