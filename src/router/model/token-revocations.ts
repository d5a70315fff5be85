/**
 * Revocations of the data model: by token, by API session, and by identity for tokens that were issued before a time.
 * Revocations without a type are those of controllers before 2.0, whose id is that of a token.
 */
import type { DataModel } from './data-model.ts';

export interface RevocableToken {
  /** Claim `jti`. */
  readonly tokenId: string;
  readonly sessionId: string;
  readonly identityId: string;
  readonly issuedAtMs: number;
}

interface Time {
  readonly seconds: bigint;
  readonly nanos: number;
}

export function isRevoked(model: DataModel, token: RevocableToken): boolean {
  const byToken = revocationOf(model, token.tokenId);
  if (byToken !== undefined && (byToken.type === '' || byToken.type === 'JTI')) return true;
  if (revocationOf(model, token.sessionId)?.type === 'API_SESSION') return true;
  const byIdentity = revocationOf(model, token.identityId);
  if (byIdentity?.type !== 'IDENTITY') return false;
  const { issuedBefore } = byIdentity;
  return issuedBefore === undefined || token.issuedAtMs < msOf(issuedBefore);
}

function revocationOf(model: DataModel, id: string) {
  const entity = id === '' ? undefined : model.entities('revocation').get(id);
  return entity?.case === 'revocation' ? entity.value : undefined;
}

function msOf({ seconds, nanos }: Time): number {
  return Number(seconds) * 1_000 + nanos / 1_000_000;
}
