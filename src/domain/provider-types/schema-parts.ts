/** Properties that the data of several types of auth providers have, with their texts, and the rules that most of them share. */
import type { FieldTexts, OpenIdRules, ProviderDataSchema } from './provider-type.ts';

export const HTTP_ORIGIN: string = String.raw`^https?://(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?`;

/** An address without query or fragment. */
export function address(description: string) {
  return {
    type: 'string',
    format: 'uri',
    title: 'uri (http or https, without query, fragment or user name)',
    description,
    pattern: String.raw`${HTTP_ORIGIN}(?:/[^\s?#]*)?$`,
    maxLength: 2_000,
  };
}

/** Properties of each provider that people log in with. */
export const CLIENT_PROPERTIES = {
  client_id: {
    type: 'string',
    description: 'The ID that the provider issued for this application',
    minLength: 1,
    maxLength: 1_000,
  },
  client_secret: {
    type: 'string',
    writeOnly: true,
    description: 'Shown as ******** once it is stored; sending ******** back keeps it',
    minLength: 1,
    maxLength: 4_000,
  },
  scopes: {
    type: 'array',
    description: 'The scopes that a sign-in requests, for example openid, email, profile',
    items: { type: 'string', minLength: 1, maxLength: 300 },
    maxItems: 100,
  },
} as const;

export const CLIENT_FIELDS: Readonly<Record<keyof typeof CLIENT_PROPERTIES, FieldTexts>> = {
  client_id: {
    label: { en: 'Client ID', de: 'Client-ID' },
    help: { de: 'Wie der Anbieter diese Anwendung nennt.' },
  },
  client_secret: {
    label: { en: 'Client secret', de: 'Client-Geheimnis' },
    help: {
      en: 'The client secret that the provider issued for this application.',
      de: 'Das Geheimnis, das der Anbieter dieser Anwendung gegeben hat.',
    },
  },
  scopes: {
    label: { en: 'Scopes', de: 'Scopes' },
    help: { de: 'Worum eine Anmeldung bittet, zum Beispiel openid, email, profile.' },
  },
};

/** The schema of a well-known identity provider, whose addresses have defaults. */
export function knownProvider(
  title: string,
  more: ProviderDataSchema['properties'],
  required: readonly string[] = [],
): ProviderDataSchema {
  return {
    title,
    type: 'object',
    required: [...required, 'client_id', 'client_secret'],
    properties: { ...CLIENT_PROPERTIES, ...more },
    additionalProperties: false,
  };
}

/** The text of a property, or the default if the data does not have it. */
export function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

/** The rules of OpenID Connect Core 1.0, without additions of a provider. */
export const OPEN_ID: OpenIdRules = {
  scopes: ['openid', 'profile', 'email'],
  acceptsTokens: false,
  keepsMetadata: false,
  keysNameIssuers: false,
  readsUserinfo: true,
  refusalOf: () => undefined,
  subjectOf: ({ sub }) => sub,
  claimsOf: (sources) => sources,
  needsEmail: false,
  trustsUnsaidEmail: () => false,
};

/** GOOGLE providers have it by default, and OIDC providers may name it. */
export const GOOGLE_ISSUER = 'https://accounts.google.com';

/** Google refuses `prompt=login`; there a person at least chooses the account. */
export const GOOGLE_PROMPT = 'select_account';
