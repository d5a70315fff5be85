/**
 * `frontdoor admins create`: creates an administrator of the edge management API, an identity with a user name and a
 * password, without a control plane. It requires the key file and the database, like `reset-admin`.
 */
import { randomUUID } from 'node:crypto';
import { systemClock, type Clock } from '#base';
import { invalidValue } from '#domain';
import { appendMachineAudit, THE_SYSTEM } from '../../audit/mod.ts';
import { openInstallation, type InstallationOptions } from '../../installation/mod.ts';
import { hashPassword } from '../../credentials/passwords/mod.ts';
import type { Secrets } from '../../secrets/mod.ts';
import { insertEdgeIdentity, lockEdgeEntities } from '../../overlay/records/mod.ts';
import { putIdentityPassword } from '../../credentials/identities/mod.ts';
import type { Store } from '../../store/mod.ts';

export const MIN_PASSWORD_CHARS = 12;
export const MAX_CREDENTIAL_CHARS = 256;

export interface AdministratorCredentials {
  /** Also the name of the identity. */
  readonly username: string;
  readonly password: string;
}

export interface NewAdministrator extends AdministratorCredentials {
  readonly identityId: string;
}

/** `keep` gets the credentials before they become valid. If it throws, nothing is changed. */
export async function createAdministrator(
  options: InstallationOptions & AdministratorCredentials,
  keep: (administrator: NewAdministrator) => Promise<void>,
): Promise<NewAdministrator> {
  const { clock = systemClock } = options;
  const { store, secrets } = await openInstallation(options);
  try {
    return await insertAdministrator({ store, secrets, clock }, options, keep);
  } finally {
    await store.close();
  }
}

/** Throws `conflict` for a taken user name, `invalid` for a short password. */
export async function insertAdministrator(
  { store, secrets, clock }: { readonly store: Store; readonly secrets: Secrets; readonly clock: Clock },
  { username, password }: AdministratorCredentials,
  keep: (administrator: NewAdministrator) => Promise<void> = () => Promise.resolve(),
): Promise<NewAdministrator> {
  if (username === '' || username.length > MAX_CREDENTIAL_CHARS || /\p{Cc}/u.test(username))
    throw invalidValue('username', `1 to ${MAX_CREDENTIAL_CHARS} characters`);
  if (password.length < MIN_PASSWORD_CHARS || password.length > MAX_CREDENTIAL_CHARS)
    throw invalidValue('password', `${MIN_PASSWORD_CHARS} to ${MAX_CREDENTIAL_CHARS} characters`);
  const passwordHash = await hashPassword(password);
  const nowMs = clock.nowMs();
  const administrator = { identityId: randomUUID(), username, password };
  const { identityId: id } = administrator;
  await store.transaction(async (trx, touch) => {
    await lockEdgeEntities(trx);
    const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
    const data = { isAdmin: true, roleAttributes: [] };
    await insertEdgeIdentity(trx, touch, { id, kind: 'identity', name: username, data, tags: {}, ...times });
    await putIdentityPassword(trx, { identityId: id, username, passwordHash }, nowMs);
    await appendMachineAudit(
      trx,
      touch,
      { secrets, clock },
      {
        ownerId: null,
        actor: THE_SYSTEM,
        action: 'createAdministrator',
        target: { kind: 'edge-identity', id },
        after: { name: username, isAdmin: true },
        address: null,
      },
    );
    await keep(administrator);
  });
  return administrator;
}
