/**
 * Looks up a failed request by its error id: among the shares of the frontdoor or, for administrators, among
 * hosts without a share.
 */
import { FrontdoorError } from '#base';
import type { CallerAnswer, FailureAnswer, UnroutedFailureAnswer } from '#contract/schemas';
import type { ManagementClient } from '../management-client.ts';
import { frontdoorOf, type LookUp } from './named-id.ts';

/** Throws the error of the frontdoor's response if there is no failure with this id without a share either. */
export async function findFailure(
  look: LookUp,
  errorId: string,
): Promise<FailureAnswer | UnroutedFailureAnswer> {
  const { client } = look;
  try {
    const path = `/frontdoor/${await frontdoorOf(look)}/failures/${errorId}`;
    return (await client.call({ method: 'GET', path })) as FailureAnswer;
  } catch (error) {
    // Only administrators make the second call, because a refusal of it would add an audit event.
    if (!isMiss(error) || !(await isAdministrator(client))) throw error;
    try {
      return (await client.call({ method: 'GET', path: `/failures/${errorId}` })) as UnroutedFailureAnswer;
    } catch (second) {
      throw isMiss(second) ? error : second;
    }
  }
}

/** Whether the frontdoor has no such failure, or no frontdoor was given. */
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
