/** Schema of the answer to a search. */
import type { Static } from 'typebox';
import { Type } from '#base/shapes';
import { closed, nullable, oneOf } from '../schema-parts.ts';

export const SEARCHED_KINDS = [
  ...(['frontdoor', 'environment', 'share', 'auth-provider', 'policy', 'custom-frontend'] as const),
  ...(['organization', 'router', 'gateway', 'fabric-service'] as const),
  ...(['person', 'api-account', 'oauth-client', 'failure', 'unrouted-failure', 'audit-event'] as const),
] as const;

export const searchResultSchema = closed({
  results: Type.Array(
    closed({
      kind: oneOf(...SEARCHED_KINDS),
      id: Type.String({ description: 'The ID; the token of a share' }),
      name: Type.String({
        description:
          'The name, the token or a domain of a share, the hostname of a custom frontend, the error ID of a failure, or the action of an event',
      }),
      detail: nullable<string>({
        type: 'string',
        description:
          'What else identifies it: the target of a share (its token for one of its domains), the email address of a person, the cause of a failure, the name or ID of an event’s resource',
      }),
      at: nullable<string>({
        type: 'string',
        format: 'date-time',
        description: 'When a failure or an event happened; null for everything else',
      }),
      frontdoorId: nullable<string>({
        type: 'string',
        format: 'uuid',
        description: 'The frontdoor that it belongs to; null if it belongs to none',
      }),
    }),
    {
      description: 'At most 10 of each kind; exact names first, then by name; events last, the newest first',
    },
  ),
  more: Type.Boolean({ description: 'Whether there are more results of any kind' }),
});
export type SearchResultAnswer = Static<typeof searchResultSchema>;
