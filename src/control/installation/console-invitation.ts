/** The invitation with which the first person, or one who lost access, becomes an operator at the console. */
import { FrontdoorError, systemClock, type Clock } from '#base';
import { appendAudit, THE_SYSTEM } from '../audit/mod.ts';
import type { Secrets } from '../secrets/mod.ts';
import { createInvitation, firstOrganization } from '../credentials/people/mod.ts';
import { THE_INSTALLATION } from '../credentials/accounts/mod.ts';
import type { Store } from '../store/mod.ts';
import { openInstallation, type InstallationOptions } from './open-installation.ts';

/** An hour. */
const LIFETIME_MS = 3_600_000;
const NAME = 'Operator';

interface OperatorInvitation {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock: Clock;
  /** The person's address; null if it is not known. */
  readonly email: string | null;
}

/** Returns the code, for an operator of the oldest organization. */
export async function inviteOperator({ store, secrets, clock, email }: OperatorInvitation): Promise<string> {
  const nowMs = clock.nowMs();
  return store.transaction(async (trx, touch) => {
    const organizationId = await firstOrganization(trx);
    if (organizationId === undefined)
      throw new FrontdoorError('notFound', 'not-found', 'there is no organization');
    const who = { name: NAME, email, role: 'operator', maker: THE_INSTALLATION } as const;
    const wanted = { organizationId, ...who };
    const made = await createInvitation(trx, secrets, { ...wanted, expiresAtMs: nowMs + LIFETIME_MS }, nowMs);
    if (made === undefined)
      throw new FrontdoorError('conflict', 'conflict', 'the organization has too many open invitations');
    const entry = {
      organizationId,
      actor: THE_SYSTEM,
      action: 'inviteOperator',
      target: { kind: 'invitation', id: made.invitation.id },
      after: { name: NAME, role: wanted.role },
      address: null,
      result: 'ok',
    } as const;
    await appendAudit(trx, touch, secrets, entry, nowMs);
    return made.code;
  });
}

/** Works on the database of an installation without its control plane, and requires the key file. */
export async function inviteOperatorOffline(options: InstallationOptions): Promise<string> {
  const { store, secrets } = await openInstallation(options);
  try {
    return await inviteOperator({ store, secrets, clock: options.clock ?? systemClock, email: null });
  } finally {
    await store.close();
  }
}
