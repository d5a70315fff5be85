/** Schema of the answer to a search. */
import type { Static } from 'typebox';
import { Type } from '#base/shapes';
import { closed, nullable, oneOf } from '../schema-parts.ts';

export const SEARCHED_KINDS = [
  ...(['frontdoor', 'environment', 'share', 'auth-provider', 'custom-frontend'] as const),
  ...(['organization', 'router', 'gateway', 'fabric-service'] as const),
] as const;

export const searchResultSchema = closed({
  results: Type.Array(
    closed({
      kind: oneOf(...SEARCHED_KINDS),
      id: Type.String({ description: 'The ID; the token of a share' }),
      name: Type.String({
        description: 'The name, the token or a domain of a share, or the hostname of a custom frontend',
      }),
      frontdoorId: nullable<string>({
        type: 'string',
        format: 'uuid',
        description: 'The frontdoor that it belongs to; null if it belongs to none',
      }),
    }),
    { description: 'At most 10 of each kind; exact names first, then by name' },
  ),
  more: Type.Boolean({ description: 'Whether there are more results of any kind' }),
});
export type SearchResultAnswer = Static<typeof searchResultSchema>;
