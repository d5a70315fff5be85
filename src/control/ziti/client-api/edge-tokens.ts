/** The tokens of the edge API, which share their keys. */
import type { Clock } from '#base';
import type { Secrets } from '../../secrets/mod.ts';
import type { Store } from '../../store/mod.ts';
import { openEdgeTokenKeys, type EdgeTokenKeys } from './edge-token-keys.ts';
import { ServiceTokens } from './service-tokens.ts';
import { SessionTokens } from './session-tokens.ts';

export interface EdgeTokens {
  readonly tokenKeys: EdgeTokenKeys;
  readonly tokens: ServiceTokens;
  readonly sessionTokens: SessionTokens;
}

/** `issuer` is that of service tokens. Rejects with errors of the store. */
export async function openEdgeTokens(
  store: Store,
  secrets: Secrets,
  clock: Clock,
  issuer: string,
): Promise<EdgeTokens> {
  const tokenKeys = await openEdgeTokenKeys(store, secrets, clock);
  return {
    tokenKeys,
    tokens: new ServiceTokens(tokenKeys, issuer, clock),
    sessionTokens: new SessionTokens(tokenKeys, clock),
  };
}
