/** The schema of a provider's data: the served document, and the check that is compiled from it. */
import {
  AUTH_PROVIDER_TYPES,
  PROVIDER_TYPES,
  type AuthProviderType,
  type ProviderData,
} from '#domain/provider-types';
import { bodyCheckOf, type BodyCheck } from '../checks/body-check.ts';

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

/** Returns the JSON Schema document of a type, for an API at `baseUrl`. */
export function providerSchemaDocument(type: AuthProviderType, baseUrl: string): object {
  const $id = `${baseUrl}/schemas/auth-providers/${type}`;
  return { $schema: DRAFT, $id, ...PROVIDER_TYPES[type].schema };
}

// Compiled under the name that refusals begin with.
const checkOf = new Map<AuthProviderType, BodyCheck>(
  AUTH_PROVIDER_TYPES.map((type) => {
    const schema = { type: 'object', properties: { data: PROVIDER_TYPES[type].schema } };
    return [type, bodyCheckOf(schema)];
  }),
);

/** Throws `invalid` with the first problem: `Value for data.<property> must be of <type>`. */
export function checkProviderData(type: AuthProviderType, data: ProviderData): void {
  checkOf.get(type)!({ data });
}
