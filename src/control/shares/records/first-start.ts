/** The first start of an installation: its first rows and, in the same transaction, their audit events. */
import { appendAudit, THE_SYSTEM } from '../../audit/mod.ts';
import type { Secrets } from '../../secrets/mod.ts';
import { seedFirstRows, type FirstStart, type FirstStartOptions } from './first-rows.ts';
import type { Store } from '../../store/mod.ts';

/**
 * Returns undefined if the database was not empty. Throws `invalid` if its secrets were encrypted with another
 * key file.
 */
export function seedFirstStart(
  store: Store,
  secrets: Secrets,
  options: FirstStartOptions,
): Promise<FirstStart | undefined> {
  const zone = options.zone.toLowerCase();
  const nowMs = options.clock.nowMs();
  return seedFirstRows(store, secrets, options, async (trx, touch, first, signingKeyId) => {
    const { organizationId, frontdoorId, accountId, clientId } = first;
    for (const [chain, target, after] of [
      ['', { kind: 'signing-key', id: signingKeyId }, { zone, signingKeyId }],
      [organizationId, { kind: 'organization', id: organizationId }, { frontdoorId, accountId, clientId }],
    ] as const) {
      const event = { actor: THE_SYSTEM, action: 'firstStart', target, after, address: null };
      await appendAudit(trx, touch, secrets, { ...event, organizationId: chain, result: 'ok' }, nowMs);
    }
  });
}
