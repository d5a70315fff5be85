/** Schemas of the installation's own certificate authorities and their rotation (ADR 0062). */
import type { Static } from 'typebox';
import { Type } from '#base/shapes';
import { closed, nullable, oneOf, timestamp } from '../schema-parts.ts';

const optionalTime = (description: string) =>
  nullable<string>({ type: 'string', format: 'date-time', description });
/** Routers and gateways need two minutes; a certificate lives for at most a year. */
const MIN_AFTER_SECONDS = 120;
const MAX_AFTER_SECONDS = 31_536_000;

export const authoritySchema = closed({
  name: Type.String({ description: 'Name of the generation, as `intermediate-ca-2`' }),
  kind: oneOf('root', 'intermediate'),
  state: Type.Unsafe<'next' | 'issuing' | 'former'>({
    type: 'string',
    enum: ['next', 'issuing', 'former'],
    description:
      'next: trusted, but not issuing yet; issuing: in use; former: trusted until its certificates are replaced',
  }),
  fingerprint: Type.String({ description: 'SHA-256 of the certificate, in lower-case hex' }),
  validFrom: timestamp(),
  expiresAt: timestamp(),
  issuesFrom: optionalTime('When it starts to issue certificates; null: since the first start'),
  endsAt: optionalTime('When it is no longer trusted; null: it is not being replaced'),
});

export const cutOffIdentitySchema = closed({
  id: Type.String(),
  kind: oneOf('environment', 'gateway', 'router', 'edge'),
  name: Type.String(),
  lastSeenAt: optionalTime('When it last called a control plane; null: never'),
});

export const authorityRotationSchema = closed({
  kind: oneOf('root', 'intermediate'),
  step: Type.Unsafe<'distributed' | 'issuing'>({
    type: 'string',
    enum: ['distributed', 'issuing'],
    description:
      'distributed: the new authority does not issue certificates yet; issuing: the former authority is still trusted',
  }),
  nextStepAt: Type.String({ format: 'date-time', description: 'When the next step happens automatically' }),
  cutOffCount: Type.Integer({
    minimum: 0,
    description: 'How many identities would have to enroll again if the next step happened now',
  }),
  cutOff: Type.Array(cutOffIdentitySchema, {
    description: 'The first 100 of these identities, most recently seen first',
  }),
});

export const authoritiesSchema = closed({
  authorities: Type.Array(authoritySchema, { description: 'All authorities that are currently trusted' }),
  rotation: Type.Optional(authorityRotationSchema),
});
export type AuthoritiesAnswer = Static<typeof authoritiesSchema>;

export const newRotationSchema = closed({
  kind: Type.Optional(
    Type.Unsafe<'root' | 'intermediate'>({
      type: 'string',
      enum: ['root', 'intermediate'],
      description:
        'The authority to rotate; intermediate by default; a new root also gets a new intermediate',
    }),
  ),
  afterSeconds: Type.Optional(
    Type.Integer({
      minimum: MIN_AFTER_SECONDS,
      maximum: MAX_AFTER_SECONDS,
      description:
        'Delay in seconds before the new authority issues certificates; by default 2 minutes for an intermediate and 30 days for a root, during which it is distributed',
      examples: [604_800],
    }),
  ),
});

export const rotationAdvanceSchema = closed({
  force: Type.Optional(
    Type.Boolean({ description: 'Whether identities may be cut off; they then have to enroll again' }),
  ),
});

export const sealingKeySchema = closed({
  keyId: nullable<string>({
    type: 'string',
    description: 'ID of the newest key; null: the first one is in use',
  }),
  state: Type.Unsafe<'none' | 'added' | 'sealing' | 'done'>({
    type: 'string',
    enum: ['none', 'added', 'sealing', 'done'],
    description:
      'none: no rotation in progress; added: at least one control plane does not have the new key; sealing: values are being re-encrypted; done: former keys are removed',
  }),
  missingAt: Type.Array(Type.String(), {
    description: 'Control planes that do not have the new key, or do not encrypt with it yet',
  }),
  remaining: Type.Integer({
    minimum: 0,
    description: 'The number of stored values that are still encrypted with a former key',
  }),
});
export type SealingKeyAnswer = Static<typeof sealingKeySchema>;
