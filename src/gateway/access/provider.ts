/** An auth provider as the feed named it once; a change makes a new one. Knows the keys that it has seen by heart. */
import { createHmac } from 'node:crypto';
import type { GatewayProvider, GatewayTokenIssuer } from '#domain';
import { KeyCaller } from './caller-kinds.ts';
import { ownCopy } from './request-credentials.ts';

const MAX_KEY = 1_024;
/** Headers that say something else already: a key in their place would have to end at the gateway, and they with it. */
const TAKEN = /^(?:host|content-length|transfer-encoding|connection|upgrade|expect|te|trailer|cookie)$/;

export class Provider {
  readonly record: GatewayProvider;
  readonly id: string;
  readonly name: string;
  readonly version: number;
  /** Undefined: it has no keys, or none that can be shown. */
  readonly placement: 'header' | 'query' | 'bearer' | undefined;
  /** Header in lower case, or parameter. */
  readonly keyField: string;
  /** Null: no tokens are taken, or none can be judged. */
  readonly tokens: GatewayTokenIssuer | null;
  /** By their HMAC. */
  readonly #keys = new Map<string, KeyCaller>();
  /** By the key itself; only right ones, so never more than there are. */
  readonly #seen = new Map<string, KeyCaller>();
  readonly #pepper: Buffer | undefined;

  /** Without a pepper no key is right. */
  constructor(record: GatewayProvider, pepper: Buffer | undefined) {
    const { apiKeys } = record;
    this.record = record;
    this.id = record.id;
    this.name = record.name;
    this.version = record.version;
    this.tokens = record.tokens;
    this.keyField = apiKeys === null ? '' : fieldOf(apiKeys);
    const isTaken = apiKeys?.placement === 'header' && TAKEN.test(this.keyField);
    this.placement = isTaken ? undefined : apiKeys?.placement;
    this.#pepper = pepper;
    for (const key of apiKeys?.keys ?? []) this.#keys.set(key.hmac, new KeyCaller(this, key));
  }

  get isLogin(): boolean {
    return this.record.type !== 'API_KEY';
  }

  seenKey(key: string): KeyCaller | undefined {
    return this.#seen.get(key);
  }

  findKey(key: string): KeyCaller | undefined {
    if (this.#pepper === undefined || key === '' || key.length > MAX_KEY) return undefined;
    const hmac = createHmac('sha256', this.#pepper).update(key).digest('hex');
    const found = this.#keys.get(hmac);
    if (found !== undefined) this.#seen.set(ownCopy(key), found);
    return found;
  }

  keyByHmac(hmac: string): KeyCaller | undefined {
    return this.#keys.get(hmac);
  }
}

function fieldOf({ placement, name }: NonNullable<GatewayProvider['apiKeys']>): string {
  return placement === 'header' ? name.toLowerCase() : name;
}
