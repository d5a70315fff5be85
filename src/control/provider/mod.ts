/** Auth providers: their types, what their data must be, and what becomes of the secrets in it. */
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
