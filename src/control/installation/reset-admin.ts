/**
 * `frontdoor control reset-admin`: creates an administrator for an installation whose credentials are lost,
 * without a control plane. It requires the key file and the database, and is recorded in the audit trail. One
 * process at a time can open an embedded database; on PostgreSQL, control planes may be running, and accept the
 * new account at once.
 */
import { FrontdoorError, systemClock } from '#base';
import { appendAudit, THE_SYSTEM } from '../audit/mod.ts';
import { ADMIN_SCOPES, createCaller } from '../credentials/accounts/mod.ts';
import { findOrganization, firstOrganization } from '../credentials/people/mod.ts';
import { openInstallation, type InstallationOptions } from './open-installation.ts';

export interface ResetAdminOptions extends InstallationOptions {
  /** Organization of the administrator; the oldest one by default. */
  readonly organizationId?: string | undefined;
}

export interface NewAdmin {
  readonly organizationId: string;
  readonly accountId: string;
  readonly apiToken: string;
}

const NAME = 'Administrator by reset-admin';

/** `keep` gets the credentials before they become valid. If it throws, nothing is changed. */
export async function resetAdmin(
  options: ResetAdminOptions,
  keep: (admin: NewAdmin) => Promise<void>,
): Promise<NewAdmin> {
  const { clock = systemClock } = options;
  const { store, secrets } = await openInstallation(options);
  try {
    const nowMs = clock.nowMs();
    return await store.transaction(async (trx, touch) => {
      const { organizationId: wantedId } = options;
      const organizationId =
        wantedId === undefined ? await firstOrganization(trx) : (await findOrganization(trx, wantedId))?.id;
      if (organizationId === undefined)
        throw new FrontdoorError('notFound', 'not-found', 'there is no such organization');
      const scopes = ADMIN_SCOPES;
      const wanted = { kind: 'account', name: NAME, organizationId, scopes, nowMs } as const;
      const { caller, secret } = await createCaller(trx, touch, secrets, wanted);
      const entry = {
        organizationId,
        actor: THE_SYSTEM,
        action: 'resetAdmin',
        target: { kind: 'api-account', id: caller.id },
        after: { name: NAME, scopes },
        address: null,
        result: 'ok',
      } as const;
      await appendAudit(trx, touch, secrets, entry, nowMs);
      const admin = { organizationId, accountId: caller.id, apiToken: secret };
      await keep(admin);
      return admin;
    });
  } finally {
    await store.close();
  }
}
