/** Every change of the schema, in order, by name. A released migration is never edited. */
import type { Migration } from 'kysely/migration';
import { accessTables } from './access-tables-migration.ts';
import { addressOwners } from './address-owner-migration.ts';
import { authorityGenerations } from './authority-generations-migration.ts';
import { consoleLogIns } from './console-log-in-migration.ts';
import { credentialEnds } from './credential-end-migration.ts';
import { edgeTables } from './edge-tables-migration.ts';
import { enrollmentName } from './enrollment-name-migration.ts';
import { enrollmentUsername } from './enrollment-username-migration.ts';
import { fabricTables } from './fabric-tables-migration.ts';
import { firstTables } from './first-tables-migration.ts';
import { hostnameProofs } from './hostname-proof-migration.ts';
import { identityClients } from './identity-client-migration.ts';
import { identityTotp } from './identity-totp-migration.ts';
import { idempotencyTables } from './idempotency-tables-migration.ts';
import { lastUses } from './last-uses-migration.ts';
import { lastBackup } from './last-backup-migration.ts';
import { loginSessionLookup } from './login-session-lookup-migration.ts';
import { managedTerminators } from './managed-terminator-migration.ts';
import { managementTables } from './management-tables-migration.ts';
import { shareText } from './share-text-migration.ts';
import { secretOverlap } from './secret-overlap-migration.ts';
import { passwordAttempts } from './password-attempts-migration.ts';
import { passwordLinks } from './password-link-migration.ts';
import { peopleTables } from './people-tables-migration.ts';
import { personTotp } from './person-totp-migration.ts';
import { replicaAddresses } from './replica-addresses-migration.ts';
import { restingNames } from './resting-name-migration.ts';
import { sealingKeys } from './sealing-keys-migration.ts';
import { sessionForm } from './session-form-migration.ts';
import { sessionMethod } from './session-method-migration.ts';
import { sessionPosture } from './session-posture-migration.ts';
import { sessionRefreshes } from './session-refresh-migration.ts';
import { sessionRevocations } from './session-revocation-migration.ts';
import { sessionSigners } from './session-signers-migration.ts';
import { sharedKeys } from './shared-key-migration.ts';
import { statusClasses } from './status-class-migration.ts';
import { thirdPartyAuthorities } from './third-party-authority-migration.ts';
import { unroutedFailures } from './unrouted-failure-migration.ts';

export const migrations: Record<string, Migration> = {
  '0001-first-tables': firstTables,
  '0002-management-tables': managementTables,
  '0003-fabric-tables': fabricTables,
  '0004-access-tables': accessTables,
  '0005-login-session-lookup': loginSessionLookup,
  '0006-secret-overlap': secretOverlap,
  '0007-resting-names': restingNames,
  '0008-idempotency-tables': idempotencyTables,
  '0009-unrouted-failures': unroutedFailures,
  '0010-replica-addresses': replicaAddresses,
  '0011-session-form': sessionForm,
  '0012-edge-tables': edgeTables,
  '0013-session-revocations': sessionRevocations,
  '0014-session-method': sessionMethod,
  '0015-identity-totp': identityTotp,
  '0016-enrollment-username': enrollmentUsername,
  '0017-shared-keys': sharedKeys,
  '0018-third-party-authorities': thirdPartyAuthorities,
  '0019-password-attempts': passwordAttempts,
  '0020-identity-clients': identityClients,
  '0021-people-tables': peopleTables,
  '0022-enrollment-name': enrollmentName,
  '0023-session-posture': sessionPosture,
  '0024-console-log-ins': consoleLogIns,
  '0025-last-uses': lastUses,
  '0026-person-totp': personTotp,
  '0027-managed-terminators': managedTerminators,
  '0028-session-signers': sessionSigners,
  '0029-share-text': shareText,
  '0030-status-classes': statusClasses,
  '0031-password-links': passwordLinks,
  '0032-credential-ends': credentialEnds,
  '0033-session-refreshes': sessionRefreshes,
  '0034-address-owners': addressOwners,
  '0035-hostname-proofs': hostnameProofs,
  '0036-authority-generations': authorityGenerations,
  '0037-last-backup': lastBackup,
  '0038-sealing-keys': sealingKeys,
};
