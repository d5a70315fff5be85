/** Schemas of auth providers and their types. The data of a provider must follow the schema of its type. */
import type { Static } from 'typebox';
import { Type } from '#base/shapes';
import { closed, nameText, nullable, oneOf, readOnly, timestamp, uuid } from '../schema-parts.ts';
import { AUTH_PROVIDER_TYPES } from '#domain/provider-types';

const providerType = () => oneOf(...AUTH_PROVIDER_TYPES);
const data = () =>
  Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: 'object',
    description: 'Data that follows the JSON Schema of the type',
    examples: [{ issuer: 'https://idp.example.com', client_id: 'my-client' }],
  });

export const providerTypeListSchema = Type.Array(
  closed({ type: providerType(), displayName: Type.String(), description: Type.String() }),
);

export const providerTypeDetailSchema = closed({ type: providerType(), description: Type.String() });

export const providerEntrySchema = closed({
  id: uuid(),
  name: Type.String(),
  type: providerType(),
  enabled: Type.Boolean(),
});

export const providerSchema = closed({
  id: uuid(),
  name: Type.String(),
  type: providerType(),
  enabled: Type.Boolean(),
  data: data(),
});
export type ProviderAnswer = Static<typeof providerSchema>;

export const providerUsesSchema = closed({
  shares: Type.Array(closed({ token: Type.String(), environmentId: Type.String() }), {
    description: 'The first 100 shares that it protects, by token; the list of shares has all of them',
  }),
  shareCount: Type.Integer({ description: 'The number of shares that it protects' }),
  customFrontends: Type.Array(closed({ id: uuid(), hostname: Type.String() }), {
    description: 'The custom frontends that it protects, by hostname',
  }),
  consoleLogInId: nullable<string>({
    type: 'string',
    description: 'The console sign-in that uses it; null if none does',
  }),
});
export type ProviderUsesAnswer = Static<typeof providerUsesSchema>;

const readOnlyOfProviders = () => ({ id: readOnly(), createdAt: readOnly() });

/** Body of POST, which creates an enabled provider. */
export const newProviderSchema = closed({
  name: nameText(),
  type: providerType(),
  data: data(),
  reservation: Type.Optional(
    Type.String({
      maxLength: 1_000,
      description: 'A reservation, whose ID the provider gets; without one, the ID is new',
    }),
  ),
  enabled: readOnly(),
  ...readOnlyOfProviders(),
});

/** A provider that is not stored. Secrets of a stored one may be masked, because a check does not send them. */
export const providerDraftSchema = closed({ type: providerType(), data: data() });

/** Body of PUT: the full definition. `enabled` is optional. */
export const providerReplacementSchema = closed({
  name: nameText(),
  type: providerType(),
  data: data(),
  enabled: Type.Optional(Type.Boolean()),
  ...readOnlyOfProviders(),
});

export const providerChangeSchema = closed({
  name: Type.Optional(nameText()),
  type: Type.Optional(providerType()),
  data: Type.Optional(data()),
  enabled: Type.Optional(Type.Boolean()),
  ...readOnlyOfProviders(),
});

/** A session of a person who logged in at a share. It contains no credential. */
export const loginSessionSchema = closed({
  id: uuid(),
  subject: Type.String({ description: 'Subject of the person at the provider' }),
  email: nullable<string>({
    type: 'string',
    description: 'Verified email address; null: none',
  }),
  name: nullable<string>({ type: 'string' }),
  shareToken: Type.String(),
  host: Type.String({ description: 'The host name of the share that the session is valid for' }),
  createdAt: timestamp(),
  lastSeenAt: Type.String({
    format: 'date-time',
    description: 'Last use of the session; gateways report it twice a minute',
  }),
  expiresAt: Type.String({
    format: 'date-time',
    description: 'When the session ends unless it is used again; a time in the past: it has ended',
  }),
});
export type LoginSessionAnswer = Static<typeof loginSessionSchema>;

export const endedSessionsSchema = closed({
  ended: Type.Integer({ minimum: 0, description: 'Number of sessions that ended' }),
});
export type EndedSessionsAnswer = Static<typeof endedSessionsSchema>;
