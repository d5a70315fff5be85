/**
 * One version of an auth provider from the feed; a change creates a new object. It remembers the API keys that it
 * has verified.
 */
import { createHmac } from 'node:crypto';
import type { GatewayProvider, GatewayTokenIssuer } from '#domain/gateway-shapes';
import { provesPeople } from '#domain/provider-types';
import { KeyCaller } from './caller-kinds.ts';
import { ownCopy } from './request-credentials.ts';

const MAX_KEY = 1_024;
/**
 * Header names with a meaning of their own, which cannot carry a key because it would have to be removed before
 * forwarding.
 */
const TAKEN = /^(?:host|content-length|transfer-encoding|connection|upgrade|expect|te|trailer|cookie)$/;

export class Provider {
  readonly record: GatewayProvider;
  readonly id: string;
  readonly name: string;
  readonly version: number;
  /** Undefined if the provider has no keys, or none that a request could carry. */
  readonly placement: 'header' | 'query' | 'bearer' | undefined;
  /** Name of the header in lower case, or of the parameter. */
  readonly keyField: string;
  /** Null if no tokens are accepted, or none can be verified. */
  readonly tokens: GatewayTokenIssuer | null;
  /** Keys by their HMAC. */
  readonly #keys = new Map<string, KeyCaller>();
  /** Keys by their text. Only correct ones are added, so the map is never larger than the list of keys. */
  readonly #seen = new Map<string, KeyCaller>();
  readonly #pepper: Buffer | undefined;

  /** Without a pepper no key is accepted. */
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
    return provesPeople(this.record.type);
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
