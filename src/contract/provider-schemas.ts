/** What auth providers and their types look like. The data of a provider is held to the schema of its type. */
import type { Static } from 'typebox';
import { Type } from './schema-builder.ts';
import { closed, nameText, nullable, oneOf, readOnly, timestamp, uuid } from './schema-parts.ts';
import { AUTH_PROVIDER_TYPES } from '#domain';

const providerType = () => oneOf(...AUTH_PROVIDER_TYPES);
const data = () =>
  Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: 'object',
    description: 'Follows the JSON Schema of its type',
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

const readOnlyOfProviders = () => ({ id: readOnly(), createdAt: readOnly() });

/** Of POST, which makes every provider enabled. */
export const newProviderSchema = closed({
  name: nameText(),
  type: providerType(),
  data: data(),
  enabled: readOnly(),
  ...readOnlyOfProviders(),
});

/** Of PUT: the full definition, where `enabled` counts when it is there. */
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

/** Of a person who logged in at a share: who it is and since when, nothing that proves it. */
export const loginSessionSchema = closed({
  id: uuid(),
  subject: Type.String({ description: 'What the provider calls the person' }),
  email: nullable<string>({
    type: 'string',
    description: 'As the provider has verified it; null: it has none',
  }),
  name: nullable<string>({ type: 'string' }),
  shareToken: Type.String(),
  host: Type.String({ description: 'The one name of the share that it holds for' }),
  createdAt: timestamp(),
  lastSeenAt: Type.String({ format: 'date-time', description: 'Gateways tell of it twice a minute' }),
  expiresAt: Type.String({
    format: 'date-time',
    description: 'It ends then when it is not used before; past: it is over already',
  }),
});
export type LoginSessionAnswer = Static<typeof loginSessionSchema>;

export const endedSessionsSchema = closed({
  ended: Type.Integer({ minimum: 0, description: 'How many there were' }),
});
export type EndedSessionsAnswer = Static<typeof endedSessionsSchema>;
