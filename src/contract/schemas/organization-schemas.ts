/** Schemas of organizations, API accounts, OAuth clients, signing keys and audit events. */
import type { Static } from 'typebox';
import { Type } from '#base/shapes';
import { SCOPES, type Scope } from '#domain';
import { closed, nameText, nullable, oneOf, readOnly, timestamp, uuid } from '../schema-parts.ts';

const scope = () => oneOf<Scope>(...SCOPES);
const scopes = () => Type.Array(scope(), { minItems: 1, maxItems: SCOPES.length, uniqueItems: true });

export const organizationSchema = closed({ id: uuid(), name: Type.String() });
export type OrganizationAnswer = Static<typeof organizationSchema>;

export const newOrganizationSchema = closed({ name: nameText(), id: readOnly() });

export const organizationChangeSchema = closed({ name: Type.Optional(nameText()), id: readOnly() });

const secondFactor = () =>
  Type.Boolean({
    description: 'Whether people of the organization who sign in with a password need a second factor',
  });
export const organizationSettingsSchema = closed({
  tokenExchange: Type.Boolean(),
  secondFactor: secondFactor(),
});

export const organizationSettingsChangeSchema = closed({
  tokenExchange: Type.Optional(Type.Boolean()),
  secondFactor: Type.Optional(secondFactor()),
});

/** 32 KiB in base64. */
const MAX_LOGO_CHARS = 43_692;
const signInTitle = () =>
  nullable<string>({
    type: 'string',
    format: 'name',
    description:
      'The name on sign-in pages; null: the name of the organization at the console, and none on pages of shares',
  });
const signInLogo = () =>
  nullable<string>({
    type: 'string',
    maxLength: MAX_LOGO_CHARS,
    pattern: '^[A-Za-z0-9+/]+={0,2}$',
    description:
      'A PNG image in base64, at most 32 KiB and 1024 pixels wide and high; null: none. Only its picture is kept, without metadata',
  });

export const signInPageSchema = closed({ title: signInTitle(), logo: signInLogo() });
export type SignInPageAnswer = Static<typeof signInPageSchema>;

export const signInPageReplacementSchema = closed({
  title: Type.Optional(signInTitle()),
  logo: Type.Optional(signInLogo()),
});

export const restingNameSchema = closed({
  name: Type.String({ description: 'The full host name of a share, or the hostname of a custom frontend' }),
  kind: oneOf('share', 'custom-frontend', 'share-domain'),
  organizationId: Type.String({
    format: 'uuid',
    description: 'The only organization that can use the name until then; it may have been deleted',
  }),
  createdAt: timestamp(),
  expiresAt: timestamp(),
});
export type RestingNameAnswer = Static<typeof restingNameSchema>;

export const callerSchema = closed({
  kind: oneOf('account', 'client', 'issuer', 'person'),
  id: Type.String(),
  name: nullable<string>({
    type: 'string',
    description: 'The name of the person, API account or OAuth client; null for tokens of trusted issuers',
  }),
  organizationId: uuid(),
  scopes: Type.Array(Type.String()),
});
export type CallerAnswer = Static<typeof callerSchema>;

const caller = () => ({
  id: uuid(),
  name: Type.String(),
  organizationId: uuid(),
  scopes: Type.Array(scope()),
});

const until = (what: string) =>
  Type.Optional(
    Type.String({
      format: 'date-time',
      description: `Until this time the ${what} before the last rotation is accepted too; absent: it is not accepted`,
    }),
  );
const lastUsed = () => ({
  lastUsedAt: nullable<string>({
    type: 'string',
    format: 'date-time',
    description: 'When it was last used, to about a minute; null: never',
  }),
});
const ofAccount = () => ({ previousTokenUntil: until('token') });
const ofClient = () => ({ previousSecretUntil: until('secret') });

const unchangeable = () => ({
  id: readOnly(),
  organizationId: readOnly(),
  scopes: readOnly(),
  createdAt: readOnly(),
  lastUsedAt: readOnly(),
});
export const accountChangeSchema = closed({
  name: Type.Optional(nameText()),
  ...unchangeable(),
  previousTokenUntil: readOnly(),
});
export const clientChangeSchema = closed({
  name: Type.Optional(nameText()),
  ...unchangeable(),
  previousSecretUntil: readOnly(),
});

export const accountSchema = closed({
  ...caller(),
  createdAt: timestamp(),
  ...lastUsed(),
  ...ofAccount(),
});
export const accountWithTokenSchema = closed({ ...caller(), token: Type.String(), ...ofAccount() });
export const clientSchema = closed({
  ...caller(),
  createdAt: timestamp(),
  ...lastUsed(),
  ...ofClient(),
});
export const clientWithSecretSchema = closed({ ...caller(), secret: Type.String(), ...ofClient() });

/** 30 days. A caller that needs longer creates a second account. */
const MAX_OVERLAP_SECONDS = 2_592_000;

export const callerRotationSchema = closed({
  overlapSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_OVERLAP_SECONDS,
      description:
        'How many seconds the old secret stays valid, at most 30 days; 0 by default, which revokes it immediately',
      examples: [86_400],
    }),
  ),
});

export const newCallerSchema = closed({
  name: nameText(),
  organizationId: uuid(),
  scopes: Type.Optional(scopes()),
  id: readOnly(),
  createdAt: readOnly(),
});

export const signingKeySchema = closed({
  id: Type.String(),
  algorithm: Type.String(),
  createdAt: timestamp(),
  activatesAt: timestamp(),
  expiresAt: nullable<string>({ type: 'string', format: 'date-time' }),
});
export const signingKeyListSchema = Type.Array(signingKeySchema);
export type SigningKeyAnswer = Static<typeof signingKeySchema>;

const record = () => Type.Unsafe<unknown>({ type: ['object', 'null'] });

export const auditEventSchema = closed({
  id: uuid(),
  sequence: Type.Integer(),
  at: timestamp(),
  actor: closed({ kind: Type.String(), id: nullable<string>({ type: 'string' }) }),
  action: Type.String(),
  target: Type.Unsafe<{ kind: string; id: string } | null>({ type: ['object', 'null'] }),
  before: record(),
  after: record(),
  address: nullable<string>({ type: 'string' }),
  result: oneOf('ok', 'refused'),
  reason: nullable<string>({ type: 'string' }),
  occurrences: Type.Integer({ minimum: 1 }),
  hash: Type.String(),
});
export type AuditEventAnswer = Static<typeof auditEventSchema>;

export const auditVerificationSchema = closed({
  /** Whether the whole chain is valid. */
  valid: Type.Boolean(),
  events: Type.Integer(),
  /** Sequence number of the first event that does not fit the chain; null if all fit. */
  firstInvalid: nullable<number>({ type: 'integer' }),
});
export type AuditVerificationAnswer = Static<typeof auditVerificationSchema>;
