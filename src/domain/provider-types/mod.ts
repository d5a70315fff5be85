/** The types of auth providers, a row each. */
export type {
  FieldTexts,
  IssuerAddress,
  OpenIdRules,
  ProviderClaims,
  ProviderData,
  ProviderSetup,
  ProviderType,
  Translated,
} from './provider-type.ts';
export {
  acceptsTokens,
  AUTH_PROVIDER_TYPES,
  hasKeys,
  isProviderType,
  LOGIN_TYPES_TEXT,
  PROVIDER_TYPES,
  provesPeople,
  type AuthProviderType,
} from './provider-type-table.ts';
