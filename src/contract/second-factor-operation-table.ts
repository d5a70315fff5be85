/** Operations on the second factor of people who log in at the console with a password. */
import { gone, guarded, ok, showing } from './operation.ts';
import {
  recoveryCodesSchema,
  secondFactorCodeSchema,
  secondFactorSchema,
  secondFactorSecretSchema,
} from './schemas/second-factor-schemas.ts';

/** Everyone with a session may change one's own. */
const own = { group: 'People', scope: 'frontdoor.read' } as const;
const path = '/caller/second-factor';

export const secondFactorOperations = [
  guarded({
    ...own,
    id: 'getSecondFactor',
    summary: 'Get whether the caller needs a second factor to sign in to the console',
    method: 'GET',
    path,
    answer: ok(secondFactorSchema),
  }),
  guarded({
    ...own,
    id: 'beginSecondFactor',
    summary:
      'Create a secret for an authenticator app; it takes effect once it is confirmed, and an earlier secret stays valid until then',
    method: 'POST',
    path,
    answer: showing('secret', ok(secondFactorSecretSchema)),
    refusals: [403, 409],
  }),
  guarded({
    ...own,
    id: 'confirmSecondFactor',
    summary: 'Confirm the secret with a first code; the recovery codes are shown only in this response',
    method: 'POST',
    path: `${path}/confirmation`,
    body: secondFactorCodeSchema,
    answer: showing('recoveryCodes', ok(recoveryCodesSchema)),
    refusals: [409],
  }),
  guarded({
    ...own,
    id: 'renewRecoveryCodes',
    summary: 'Replace the recovery codes; they are shown only in this response',
    method: 'POST',
    path: `${path}/recovery-codes`,
    answer: showing('recoveryCodes', ok(recoveryCodesSchema)),
    refusals: [403, 409],
  }),
  guarded({
    ...own,
    id: 'removeSecondFactor',
    summary: 'Remove the second factor of the caller, unless the organization requires one',
    method: 'DELETE',
    path,
    answer: gone,
    refusals: [403, 404, 409],
  }),
  guarded({
    id: 'removePersonSecondFactor',
    group: 'People',
    summary: 'Remove the second factor of a person who has lost it',
    method: 'DELETE',
    path: '/people/{id}/second-factor',
    scope: 'frontdoor.organization',
    answer: gone,
    refusals: [403, 404, 409],
  }),
] as const;
