/** A check that asks the Management API. */
import { FrontdoorError } from '#base';
import type { ResolvedAccess } from '../access/access.ts';
import { ManagementClient } from '../management-client.ts';
import { failure, PROBE_MS, type CheckResult } from './finding.ts';

/** A refusal of the API is a failure with its remedy. */
export async function asked(
  access: ResolvedAccess,
  work: (client: ManagementClient) => Promise<CheckResult>,
): Promise<CheckResult> {
  let client;
  try {
    client = new ManagementClient(access, PROBE_MS);
    return await work(client);
  } catch (error) {
    if (!(error instanceof FrontdoorError)) throw error;
    const remedy =
      error.kind === 'unauthenticated'
        ? 'sign in again: the account was revoked, its token was rotated, or a clock is wrong'
        : error.kind === 'forbidden'
          ? 'choose another frontdoor ("frontdoor login"), or request the scope'
          : 'see the other findings';
    return failure(error.message, remedy);
  } finally {
    await client?.close();
  }
}
