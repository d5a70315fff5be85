/** Summaries of path parameters, for the API description. Operations declare which of them must be UUIDs. */
import { AUTH_PROVIDER_TYPES } from '#domain/provider-types';
import type { Operation } from './operation.ts';

export interface PathParameter {
  readonly name: string;
  readonly summary: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

const SUMMARIES: Readonly<Record<string, string>> = {
  frontdoorId: 'ID of the frontdoor',
  organizationId: 'ID of the organization',
  id: 'ID of the resource',
  agentId: 'ID of the agent, which is the ID of its environment',
  token: 'Token of the share',
  customFrontendId: 'ID of the custom frontend',
  policyId: 'ID of the shared policy',
  hostnameClaimId: 'ID of the claim of a hostname',
  deliveryId: 'ID of the delivery',
  hostname: 'Domain of the share',
  sessionId: 'ID of the session',
  type: 'Identifier of the type',
  name: 'Name as in the list',
  enrollmentCode: 'Enrollment code, as createEnrollment returned it',
  requestId: 'ID of the request, which is the error ID of its page if it failed',
  errorId: 'Error ID from the page or the header Frontdoor-Error-Id',
};

/** Returns the parameters in the order of the path. */
export function pathParametersOf({ path, uuidParameters }: Operation): readonly PathParameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const summary = SUMMARIES[name];
    if (summary === undefined) throw new Error(`${path}: no summary for the parameter ${name}`);
    if (name === 'type') return { name, summary, schema: { type: 'string', enum: [...AUTH_PROVIDER_TYPES] } };
    const form = uuidParameters.includes(name) ? { format: 'uuid' } : { minLength: 1 };
    return { name, summary, schema: { type: 'string', ...form } };
  });
}
