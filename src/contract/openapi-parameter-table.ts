/** What the parameters of paths are, for the API's description; which of them must be UUIDs stands in the operations. */
import { AUTH_PROVIDER_TYPES } from '#domain';
import type { Operation } from './operation.ts';

export interface PathParameter {
  readonly name: string;
  readonly summary: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

const SUMMARIES: Readonly<Record<string, string>> = {
  frontdoorId: 'Id of the frontdoor',
  organizationId: 'Id of the organization',
  id: 'Id of the resource',
  agentId: 'Id of the agent, which is the id of its environment',
  token: 'Token of the share',
  customFrontendId: 'Id of the custom frontend',
  sessionId: 'Id of the session',
  type: 'Identifier of the type',
  name: 'The name as the list shows it',
  enrollmentCode: 'The code that an enrollment answered',
  errorId: 'The error id on the page, or in the header Frontdoor-Error-Id',
};

/** In the order of the path. */
export function pathParametersOf({ path, uuidParameters }: Operation): readonly PathParameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const summary = SUMMARIES[name];
    if (summary === undefined) throw new Error(`${path}: nothing says what ${name} is`);
    if (name === 'type') return { name, summary, schema: { type: 'string', enum: [...AUTH_PROVIDER_TYPES] } };
    const form = uuidParameters.includes(name) ? { format: 'uuid' } : { minLength: 1 };
    return { name, summary, schema: { type: 'string', ...form } };
  });
}
