/** Operations on the installation's own certificate authorities, and on the key that encrypts its secrets. */
import {
  authoritiesSchema,
  newRotationSchema,
  rotationAdvanceSchema,
  sealingKeySchema,
} from './schemas/authority-schemas.ts';
import { guarded, ok } from './operation.ts';

const scope = 'frontdoor.admin';

export const authorityOperations = [
  guarded({
    id: 'getAuthorities',
    group: 'Installation',
    summary:
      'Get the certificate authorities, and the identities that the next step of a rotation would cut off',
    method: 'GET',
    path: '/authorities',
    scope,
    answer: ok(authoritiesSchema),
  }),
  guarded({
    id: 'rotateAuthority',
    group: 'Installation',
    summary: 'Start to rotate the key of the root or intermediate authority',
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
    summary:
      'Take the next step of the rotation now: issue with the new authority, or stop trusting the former one',
    method: 'POST',
    path: '/authorities/rotation/next-step',
    scope,
    body: rotationAdvanceSchema,
    isBodyOptional: true,
    answer: ok(authoritiesSchema),
    refusals: [409],
  }),
  guarded({
    id: 'getSealingKey',
    group: 'Installation',
    summary: 'Get the state of the key that encrypts secrets in the database',
    method: 'GET',
    path: '/sealing-key',
    scope,
    answer: ok(sealingKeySchema),
  }),
  guarded({
    id: 'rotateSealingKey',
    group: 'Installation',
    summary: 'Rotate the key that encrypts secrets in the database, or continue a rotation',
    method: 'POST',
    path: '/sealing-key/rotation',
    scope,
    answer: ok(sealingKeySchema),
    refusals: [409],
  }),
] as const;
