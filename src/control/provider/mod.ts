/** Auth providers: the types, the schemas of their data, and the secrets in that data. */
export {
  checkProviderData,
  isProviderType,
  providerSchemaDocument,
  type ProviderData,
} from './provider-schema.ts';
export {
  settleProviderData,
  shownProviderData,
  unsealedSecrets,
  type SettledData,
  type StoredKey,
  type StoredSecrets,
} from './provider-secrets.ts';
export { providerTypes } from './provider-type-table.ts';
