/** Operations on the sign-in pages of an organization. ADR 0116. */
import { guarded, ok } from './operation.ts';
import { signInPageReplacementSchema, signInPageSchema } from './schemas/organization-schemas.ts';

const PAGE = '/organizations/{organizationId}/sign-in-page';
const scope = 'frontdoor.organization';

export const signInPageOperations = [
  guarded({
    id: 'getSignInPage',
    group: 'Organizations',
    summary: 'Get the name and the logo on the sign-in pages of an organization',
    method: 'GET',
    path: PAGE,
    scope,
    answer: ok(signInPageSchema),
    refusals: [403],
  }),
  guarded({
    id: 'replaceSignInPage',
    group: 'Organizations',
    summary:
      'Set the name and the logo on sign-in pages of an organization: those of the console, and those that visitors of its shares see',
    method: 'PUT',
    path: PAGE,
    scope,
    body: signInPageReplacementSchema,
    answer: ok(signInPageSchema),
    refusals: [403],
  }),
] as const;
