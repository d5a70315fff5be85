/** What a type of auth provider consists of: everything that other parts derive from its row in `provider-type-table.ts`. */

/** The data of one provider, as its schema describes it. */
export type ProviderData = Readonly<Record<string, unknown>>;

/** Claims of an ID token or of a response of the userinfo endpoint. */
export type ProviderClaims = Readonly<Record<string, unknown>>;

export interface ProviderType {
  /** Served and used for validation unchanged: patterns decide, never `format` alone, which many validators ignore. */
  readonly schema: ProviderDataSchema;
  /** Properties of the data that are stored encrypted and shown masked. */
  readonly secrets: readonly string[];
  /** How callers prove who they are: by a log-in with OpenID Connect or at GitHub, or by keys that the data has. */
  readonly protocol: 'openid' | 'github' | 'keys';
  readonly usesPkce: (data: ProviderData) => boolean;
  /** Where the provider publishes its metadata (OpenID Connect Discovery 1.0); undefined if it publishes none. */
  readonly metadata: (data: ProviderData) => IssuerAddress | undefined;
  /** The parameter `prompt` by which the provider asks a person to log in again; undefined if it knows none. */
  readonly prompt: (data: ProviderData) => string | undefined;
  /** Only of types with the protocol `openid`. */
  readonly openId?: OpenIdRules;
  readonly texts: ProviderTexts;
  /** Complete data for examples, with `SECRET` for secrets. */
  readonly example: ProviderData;
}

/** A schema of an object. `$schema` and `$id` are added when it is served. */
export interface ProviderDataSchema {
  readonly type: 'object';
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly additionalProperties: false;
  readonly [keyword: string]: unknown;
}

export interface IssuerAddress {
  readonly issuer: string;
  /** Derived from the issuer if undefined. */
  readonly discoveryUrl: string | undefined;
}

/** How sign-ins with OpenID Connect treat a provider of the type. */
export interface OpenIdRules {
  /** The requested scopes, unless the data has others. */
  readonly scopes: readonly string[];
  /** Whether gateways accept tokens that the issuer signs for programs. */
  readonly acceptsTokens: boolean;
  /** Whether the metadata is kept up to date while the provider is in use: for tokens, or for log-outs at the provider. */
  readonly keepsMetadata: boolean;
  /** Whether keys of the provider name the issuers that they were published for. */
  readonly keysNameIssuers: boolean;
  readonly readsUserinfo: boolean;
  /** Why an account is not admitted, by the verified claims of its ID token; undefined if it is. */
  readonly refusalOf: (claims: ProviderClaims, data: ProviderData) => string | undefined;
  /** The subject of an account: no other account that the provider admits has the same one. */
  readonly subjectOf: (claims: ProviderClaims & { readonly sub: string }, data: ProviderData) => string;
  /**
   * Claims as they count: `email` where `email_verified` is true, and `groups`. `sources` are those of the ID token and
   * of the userinfo endpoint, the more trusted first.
   */
  readonly claimsOf: (sources: readonly ProviderClaims[], data: ProviderData) => readonly ProviderClaims[];
  /** Whether a log-in without a verified email address is refused. */
  readonly needsEmail: boolean;
  /** Whether an email address counts as verified if the provider makes no statement about it. */
  readonly trustsUnsaidEmail: (data: ProviderData) => boolean;
}

/** A text in each language of the console. */
export interface Translated<T = string> {
  readonly en: T;
  readonly de: T;
}

export interface ProviderTexts {
  /** The API shows the English one. */
  readonly displayName: Translated;
  readonly description: Translated;
  /** The steps at the provider, in order; none for keys. */
  readonly steps: ProviderSetup;
  /** Products that are used with this type, by a name for addresses, each with steps of its own. */
  readonly guides?: Readonly<Record<string, ProviderGuide>>;
  /** By property of the data; `keys.name` is the property `name` of an item of `keys`. */
  readonly fields: Readonly<Record<string, FieldTexts>>;
}

export interface ProviderSetup {
  /** Before the redirect addresses are entered. */
  readonly first: Translated<readonly string[]>;
  /** Where the redirect addresses are entered; empty for keys. */
  readonly redirects: Translated;
  /** Afterwards, until the form can be filled in. */
  readonly last: Translated<readonly string[]>;
}

export interface ProviderGuide {
  readonly displayName: string;
  readonly steps: ProviderSetup;
}

export interface FieldTexts {
  readonly label: Translated;
  /** Instead of the description of the schema, which is English. */
  readonly help?: Partial<Translated>;
}
