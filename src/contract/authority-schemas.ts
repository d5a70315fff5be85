/** Schemas of the installation's own certificate authorities and their rotation (ADR 0062). */
import type { Static } from 'typebox';
import { Type } from '#base';
import { closed, nullable, oneOf, timestamp } from './schema-parts.ts';

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
      'next: trusted, and does not issue yet; issuing: in use; former: trusted until its certificates are replaced',
  }),
  fingerprint: Type.String({ description: 'SHA-256 of the certificate, in lower-case hex' }),
  validFrom: timestamp(),
  expiresAt: timestamp(),
  issuesFrom: optionalTime('When it begins to issue; null: since the first start'),
  endsAt: optionalTime('When it is no longer trusted; null: nothing replaces it'),
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
    description: 'distributed: the new one does not issue yet; issuing: the former one is still trusted',
  }),
  nextStepAt: Type.String({ format: 'date-time', description: 'When the next step happens by itself' }),
  cutOffCount: Type.Integer({
    minimum: 0,
    description: 'How many identities would have to enroll again if the next step happened now',
  }),
  cutOff: Type.Array(cutOffIdentitySchema, { description: 'The first 100 of them, those seen last first' }),
});

export const authoritiesSchema = closed({
  authorities: Type.Array(authoritySchema, { description: 'Every authority that is trusted now' }),
  rotation: Type.Optional(authorityRotationSchema),
});
export type AuthoritiesAnswer = Static<typeof authoritiesSchema>;

export const newRotationSchema = closed({
  kind: Type.Optional(
    Type.Unsafe<'root' | 'intermediate'>({
      type: 'string',
      enum: ['root', 'intermediate'],
      description:
        'What gets a new key; intermediate by default; a new root gets a new intermediate below it',
    }),
  ),
  afterSeconds: Type.Optional(
    Type.Integer({
      minimum: MIN_AFTER_SECONDS,
      maximum: MAX_AFTER_SECONDS,
      description:
        'How many seconds later the new authority issues; by default 2 minutes for an intermediate and 30 days for a root, in which everybody gets it',
      examples: [604_800],
    }),
  ),
});

export const rotationAdvanceSchema = closed({
  force: Type.Optional(
    Type.Boolean({ description: 'Whether identities may be cut off, which then have to enroll again' }),
  ),
});

export const sealingKeySchema = closed({
  keyId: nullable<string>({
    type: 'string',
    description: 'Id of the newest key; null: the first one is in use',
  }),
  state: Type.Unsafe<'none' | 'added' | 'sealing' | 'done'>({
    type: 'string',
    enum: ['none', 'added', 'sealing', 'done'],
    description:
      'none: no key was replaced; added: some control plane does not have it; sealing: values are encrypted again; done: former keys are removed',
  }),
  missingAt: Type.Array(Type.String(), {
    description: 'Control planes that do not have the key, or do not encrypt with it yet',
  }),
  remaining: Type.Integer({ minimum: 0, description: 'How many stored values only a former key decrypts' }),
});
export type SealingKeyAnswer = Static<typeof sealingKeySchema>;
