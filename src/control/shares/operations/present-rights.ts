/** The rights of a caller, checked again inside the transaction of a change of rights. */
import { changesRights, type Operation } from '#contract';
import type { Principal } from '../../credentials/oauth/mod.ts';
import { hasConsoleSession } from '../../credentials/people/mod.ts';
import { lockedByName, type StoreTransaction } from '../../store/mod.ts';
import { presentRights } from '../../credentials/accounts/mod.ts';
import { insufficientScope, unauthorized } from './api-errors.ts';

/**
 * Throws if the caller has lost a scope, its credential or its session since the request was admitted. One such change runs
 * at a time, apart from those of auth providers, so that two callers who remove each other do not wait for each other.
 */
export async function checkPresentRights(
  trx: StoreTransaction,
  { operation, principal }: { readonly operation: Operation; readonly principal: Principal },
  nowMs: number,
): Promise<void> {
  if (!changesRights(operation)) return;
  if (operation.group !== 'Auth providers') await lockedByName(trx, 'rights');
  // A trusted issuer is configured at the start.
  const rights = await presentRights(trx, principal, { scopesOfIssuer: () => principal.scopes, nowMs });
  if (rights === undefined || !(await isSessionOpen(trx, principal))) throw unauthorized();
  const lost = principal.scopes.find((scope) => !rights.scopes.includes(scope));
  if (lost !== undefined) throw insufficientScope(lost);
}

async function isSessionOpen(trx: StoreTransaction, { sessionId }: Principal): Promise<boolean> {
  return sessionId === undefined || hasConsoleSession(trx, sessionId);
}
