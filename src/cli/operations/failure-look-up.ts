/** A failed request by its error id: of a share of the frontdoor or, for administrators, of a host that no share has. */
import { FrontdoorError } from '#base';
import type { CallerAnswer, FailureAnswer, UnroutedFailureAnswer } from '#contract';
import type { ManagementClient } from '../management-client.ts';
import { frontdoorOf, type LookUp } from './named-id.ts';

/** Errors: those of the frontdoor's answer, when there is no failure of this id without a share either. */
export async function findFailure(
  look: LookUp,
  errorId: string,
): Promise<FailureAnswer | UnroutedFailureAnswer> {
  const { client } = look;
  try {
    const path = `/frontdoor/${await frontdoorOf(look)}/failures/${errorId}`;
    return (await client.call({ method: 'GET', path })) as FailureAnswer;
  } catch (error) {
    // Others are not asked for: a refusal of theirs would stand in the audit trail.
    if (!isMiss(error) || !(await isAdministrator(client))) throw error;
    try {
      return (await client.call({ method: 'GET', path: `/failures/${errorId}` })) as UnroutedFailureAnswer;
    } catch (second) {
      throw isMiss(second) ? error : second;
    }
  }
}

/** The frontdoor has no such failure, or none was named. */
function isMiss(error: unknown): boolean {
  return error instanceof FrontdoorError && (error.kind === 'notFound' || error.code === 'no-frontdoor');
}

async function isAdministrator(client: ManagementClient): Promise<boolean> {
  try {
    const { scopes } = (await client.call({ method: 'GET', path: '/caller' })) as CallerAnswer;
    return scopes.includes('frontdoor.admin');
  } catch {
    return false;
  }
}
