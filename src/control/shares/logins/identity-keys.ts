/**
 * The keys with which gateways sign identity tokens for origins: one set for the installation, rotated like the
 * other signing keys. The control plane distributes them to gateways and publishes their public halves.
 */
import { createPublicKey } from 'node:crypto';
import { exportJWK } from 'jose';
import type { Clock } from '#base';
import type { GatewayKeys } from '#domain/gateway-shapes';
import type { Secrets } from '../../secrets/mod.ts';
import { concerns, type Store } from '../../store/mod.ts';
import { createSigningKey, listSigningKeys } from '../../credentials/oauth/mod.ts';

type IdentityKey = GatewayKeys['identityKeys'][number];

interface HeldKey extends IdentityKey {
  readonly activatesAtMs: number;
  readonly expiresAtMs: number | null;
}

const PURPOSE = 'origin-identity';

export interface IdentityKeysOptions {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock: Clock;
}

/** Loads the keys and makes the first one. Rejects with errors of the store. */
export async function openIdentityKeys(options: IdentityKeysOptions): Promise<IdentityKeys> {
  const { store, secrets, clock } = options;
  const nowMs = clock.nowMs();
  if ((await listSigningKeys(store.db, secrets, PURPOSE, nowMs)).length === 0) {
    await store.transaction((trx, touch) => createSigningKey(trx, touch, secrets, PURPOSE, nowMs));
  }
  const keys = new IdentityKeys(options);
  // Subscribed before the first read, because another control plane may store a key in between.
  store.onChange((changes) => (concerns(changes, 'signing-key') ? keys.read() : undefined));
  await keys.read();
  return keys;
}

export class IdentityKeys {
  readonly #options: IdentityKeysOptions;
  #held: readonly HeldKey[] = [];
  #onChange: () => void = () => {};

  constructor(options: IdentityKeysOptions) {
    this.#options = options;
  }

  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  /** Returns all published keys, the signing one first. */
  current(): readonly IdentityKey[] {
    const nowMs = this.#options.clock.nowMs();
    const valid = this.#held.filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs);
    const signing = valid.find(({ activatesAtMs }) => activatesAtMs <= nowMs);
    return [...valid.filter((key) => key === signing), ...valid.filter((key) => key !== signing)].map(
      ({ kid, privateKey, publicJwk }) => ({ kid, privateKey, publicJwk }),
    );
  }

  /** Returns a JSON Web Key Set. */
  published(): { readonly keys: readonly Readonly<Record<string, unknown>>[] } {
    return { keys: this.current().map(({ publicJwk }) => publicJwk) };
  }

  async read(): Promise<void> {
    const { store, secrets, clock } = this.#options;
    const stored = await listSigningKeys(store.db, secrets, PURPOSE, clock.nowMs());
    const held = await Promise.all(
      stored.map(async ({ id, privateKeyPem, publicKeyPem, activatesAtMs, expiresAtMs }) => {
        const jwk = await exportJWK(createPublicKey(publicKeyPem));
        const publicJwk = { ...jwk, kid: id, use: 'sig', alg: 'ES256' };
        return { kid: id, privateKey: privateKeyPem, publicJwk, activatesAtMs, expiresAtMs };
      }),
    );
    // Most changes concern keys for other purposes.
    const isNew = idsOf(held) !== idsOf(this.#held);
    this.#held = held;
    if (isNew) this.#onChange();
  }
}

function idsOf(held: readonly HeldKey[]): string {
  return held.map(({ kid }) => kid).join();
}
