/** Opens what the Management API adds to the parts that its operations get. */
import { AuditFollowers } from '../../audit/mod.ts';
import { ChangeFollowers } from '../changes/change-followers.ts';
import { BusiestCache } from '../metrics/busiest-cache.ts';
import { openIdentityKeys } from '../logins/identity-keys.ts';
import {
  audienceOf,
  CLOCK_SKEW_MS,
  LoginFailures,
  TokenKeys,
  type TokenPolicy,
} from '../../credentials/oauth/mod.ts';
import { CallerDirectory, writeCallerUses } from '../../credentials/accounts/mod.ts';
import { FrontdoorDirectory } from '../records/frontdoor-directory.ts';
import { LastUses } from '../../store/mod.ts';
import { auditJson } from './audit-operations.ts';
import type { ApiParts } from './call.ts';
import type { ApiLimits } from './limits.ts';
import type { ManagementApiOptions } from './management-api-options.ts';

const AGENT_ENROLLMENT_TTL_MS = 15 * 60_000;
const FABRIC_ENROLLMENT_TTL_MS = 24 * 3_600_000;

/** The parts, with what is closed. */
export type OpenedApiParts = ApiParts & { readonly callerUses: LastUses };

/** Rejects with errors of the store. */
export async function openApiParts(
  options: ManagementApiOptions,
  limits: ApiLimits,
): Promise<OpenedApiParts> {
  const { store, secrets, model, catalog, status, clock, log } = options;
  // Subscribes to changes first, so that later listeners can query it at once.
  const access = new CallerDirectory(store);
  const keys = await TokenKeys.load(store, secrets, clock);
  const originKeys = await openIdentityKeys({ store, secrets, clock });
  return {
    ...options,
    keys,
    originKeys,
    access,
    frontdoors: new FrontdoorDirectory(store),
    callerUses: new LastUses({
      clock,
      log,
      what: 'last uses of API accounts and OAuth clients',
      write: (uses) => writeCallerUses(store.db, uses),
    }),
    loginFailures: new LoginFailures(limits.failedLogins, clock),
    auditFollowers: new AuditFollowers({ store, log, jsonOf: auditJson }),
    busiest: new BusiestCache(clock),
    changeFollowers: new ChangeFollowers({ store, log, model, catalog, status }),
    agentEnrollmentTtlMs: options.agentEnrollmentTtlMs ?? AGENT_ENROLLMENT_TTL_MS,
    fabricEnrollmentTtlMs: options.fabricEnrollmentTtlMs ?? FABRIC_ENROLLMENT_TTL_MS,
    tokenPolicy: (): TokenPolicy => ({
      issuer: options.authUrl(),
      audience: audienceOf(options.baseUrl()),
      peers: options.peerUrls?.() ?? [],
      algorithms: ['ES256'],
      type: 'at+jwt',
      clockSkewMs: CLOCK_SKEW_MS,
    }),
  };
}
