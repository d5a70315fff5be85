/** Operations on the installation's own certificate authorities. */
import { authoritiesSchema, newRotationSchema, rotationAdvanceSchema } from './authority-schemas.ts';
import { guarded, ok } from './operation.ts';

const scope = 'frontdoor.admin';

export const authorityOperations = [
  guarded({
    id: 'getAuthorities',
    group: 'Installation',
    summary: 'Get the certificate authorities, and who would be cut off by the next step of a rotation',
    method: 'GET',
    path: '/authorities',
    scope,
    answer: ok(authoritiesSchema),
  }),
  guarded({
    id: 'rotateAuthority',
    group: 'Installation',
    summary: 'Begin to replace the key of the root or the intermediate authority',
    method: 'POST',
    path: '/authorities/rotation',
    scope,
    body: newRotationSchema,
    isBodyOptional: true,
    answer: ok(authoritiesSchema),
    refusals: [409],
  }),
  guarded({
    id: 'advanceAuthority',
    group: 'Installation',
    summary: 'Take the next step of the rotation now: issue by the new authority, or end the former one',
    method: 'POST',
    path: '/authorities/rotation/next-step',
    scope,
    body: rotationAdvanceSchema,
    isBodyOptional: true,
    answer: ok(authoritiesSchema),
    refusals: [409],
  }),
] as const;
