/**
 * Looks up a failed request by its error id: among the shares of the frontdoor or, for administrators, among
 * hosts without a share.
 */
import { setTimeout } from 'node:timers/promises';
import { FrontdoorError } from '#base';
import type { CallerAnswer, FailureAnswer, UnroutedFailureAnswer } from '#contract/schemas';
import type { ManagementClient } from '../management-client.ts';
import { frontdoorOf, type LookUp } from './named-id.ts';

/** Gateways report once a second, so that the record of a page that was just shown may be on its way. */
const LOOKS = 8;
const PAUSE_MS = 500;
const ERROR_ID = /^[0-9a-f]{24}$/;

/** As `findFailure`. Waits for a few seconds for an ID that has no record yet, but not for a text of another form. */
export async function findReportedFailure(
  look: LookUp,
  errorId: string,
  pause: (ms: number) => Promise<unknown> = setTimeout,
): Promise<FailureAnswer | UnroutedFailureAnswer> {
  for (let looks = 1; ; looks += 1) {
    try {
      return await findFailure(look, errorId);
    } catch (error) {
      if (!(error instanceof FrontdoorError) || error.kind !== 'notFound' || !ERROR_ID.test(errorId))
        throw error;
      if (looks === LOOKS) throw noRecord(errorId, error);
    }
    await pause(PAUSE_MS);
  }
}

function noRecord(errorId: string, cause: FrontdoorError): FrontdoorError {
  const message =
    `there is no record of the error ${errorId}: it belongs to another frontdoor, it was removed by its age, ` +
    'or its gateway cannot reach the control plane ("frontdoor fabric gateways" shows whether it is online)';
  return new FrontdoorError('notFound', cause.code, message, { cause });
}

/** Throws the error of the frontdoor's response if there is no failure with this id without a share either. */
async function findFailure(look: LookUp, errorId: string): Promise<FailureAnswer | UnroutedFailureAnswer> {
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
