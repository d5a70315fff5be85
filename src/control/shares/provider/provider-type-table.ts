/**
 * The types of auth providers and the schemas of their data: plain JSON Schema (draft 2020-12), served and used
 * for validation unchanged. The schema itself expresses every refusal that it can: patterns decide, never
 * `format` alone, which many validators ignore.
 */
import type { AuthProviderType } from '#domain';

export interface ProviderType {
  readonly displayName: string;
  readonly description: string;
  /** Properties of the data that are stored encrypted and shown masked. */
  readonly secrets: readonly string[];
  readonly schema: ProviderDataSchema;
}

/** A schema of an object. `$schema` and `$id` are added when it is served. */
export interface ProviderDataSchema {
  readonly type: 'object';
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly additionalProperties: false;
  readonly [keyword: string]: unknown;
}

const HTTP_ORIGIN = String.raw`^https?://(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?`;

const clientId = {
  type: 'string',
  description: 'What the provider calls this application',
  minLength: 1,
  maxLength: 1_000,
};

const clientSecret = {
  type: 'string',
  writeOnly: true,
  description: 'Shown as ******** once it is stored; sending ******** back keeps it',
  minLength: 1,
  maxLength: 4_000,
};

const scopes = {
  type: 'array',
  description: 'What a login asks for, for example openid, email, profile',
  items: { type: 'string', minLength: 1, maxLength: 300 },
  maxItems: 100,
};

/** Without query or fragment. */
function address(description: string) {
  return {
    type: 'string',
    format: 'uri',
    title: 'uri (http or https, without query, fragment or user name)',
    description,
    pattern: String.raw`${HTTP_ORIGIN}(?:/[^\s?#]*)?$`,
    maxLength: 2_000,
  };
}

/** A log-in at a well-known identity provider, whose addresses have defaults. */
function knownProvider(title: string, addresses: ProviderDataSchema['properties']): ProviderDataSchema {
  return {
    title,
    type: 'object',
    required: ['client_id', 'client_secret'],
    properties: { client_id: clientId, client_secret: clientSecret, scopes, ...addresses },
    additionalProperties: false,
  };
}

const oidc: ProviderDataSchema = {
  title: 'OpenID Connect',
  type: 'object',
  required: ['issuer', 'client_id'],
  properties: {
    issuer: address("The provider's issuer identifier: an http or https URL without query or fragment"),
    client_id: clientId,
    client_secret: clientSecret,
    scopes,
    supports_pkce: {
      type: 'boolean',
      description:
        'Whether logins use PKCE (RFC 7636); true when absent, false only for a provider that refuses it',
    },
    trust_email: {
      type: 'boolean',
      description:
        'Whether e-mail addresses count as verified that the provider says nothing about; false when absent, and what it says is unverified never counts',
    },
    discovery_url: {
      type: 'string',
      format: 'uri',
      title: 'uri (http or https, without fragment or user name)',
      description: "Where the provider's metadata are, when not below the issuer",
      pattern: String.raw`${HTTP_ORIGIN}(?:[/?][^\s#]*)?$`,
      maxLength: 2_000,
    },
  },
  additionalProperties: false,
};

const apiKey: ProviderDataSchema = {
  title: 'API key',
  type: 'object',
  required: ['placement', 'keys'],
  properties: {
    placement: {
      type: 'string',
      description: 'Where callers put their key; bearer is the Authorization header and has no name',
      enum: ['header', 'query', 'bearer'],
    },
    name: {
      type: 'string',
      description: 'The name of the header or query parameter',
      title: 'parameter name (1 to 100 visible ASCII characters)',
      pattern: '^[!-~]{1,100}$',
    },
    keys: {
      type: 'array',
      description: 'The keys that are admitted. No two have the same name or the same value',
      minItems: 1,
      maxItems: 1_000,
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: {
            type: 'string',
            title: 'key name (1 to 100 characters, no control characters)',
            description: 'Whose key it is',
            pattern: String.raw`^[^\u0000-\u001f\u007f-\u009f\ud800-\udfff]{1,100}$`,
          },
          key: {
            type: 'string',
            writeOnly: true,
            description:
              'Made by the service when it is not given; shown as ******** once it is stored; sending ******** back keeps the key of this name',
            title: 'key (16 to 300 visible ASCII characters)',
            pattern: String.raw`^(?:\*{8}|[!-~]{16,300})$`,
          },
          expiresAt: { type: 'string', format: 'date-time', description: 'From when on it is refused' },
          lastUsedAt: { readOnly: true, description: 'When it was last admitted; ignored when sent' },
        },
        additionalProperties: false,
      },
    },
  },
  if: { properties: { placement: { const: 'bearer' } } },
  else: { required: ['name'], properties: { name: { type: 'string' } } },
  allOf: [
    {
      if: { properties: { placement: { enum: ['query', 'bearer'] } } },
      else: {
        properties: {
          name: {
            type: 'string',
            title: "header name (letters, digits and !#$%&'*+.^_`|~-)",
            pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
          },
        },
      },
    },
  ],
  additionalProperties: false,
};

export const providerTypes: Readonly<Record<AuthProviderType, ProviderType>> = {
  OIDC: {
    displayName: 'OpenID Connect',
    description: 'Logs people in with any OpenID Connect provider and accepts the tokens that it issues',
    secrets: ['client_secret'],
    schema: oidc,
  },
  API_KEY: {
    displayName: 'API key',
    description: 'Admits callers that send one of the keys in a header, a query parameter or as bearer token',
    secrets: [],
    schema: apiKey,
  },
  GOOGLE: {
    displayName: 'Google',
    description: 'Logs people in with their Google account',
    secrets: ['client_secret'],
    schema: knownProvider('Google', {
      issuer: address('Instead of https://accounts.google.com'),
    }),
  },
  GITHUB: {
    displayName: 'GitHub',
    description: 'Logs people in with their GitHub account',
    secrets: ['client_secret'],
    schema: knownProvider('GitHub', {
      base_url: address('The address of a GitHub of your own, instead of https://github.com'),
      api_url: address('The address of its API, instead of https://api.github.com or <base_url>/api/v3'),
    }),
  },
};
