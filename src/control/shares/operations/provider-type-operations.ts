/** Operations on the types of auth providers and their schemas. */
import {
  AUTH_PROVIDER_TYPES,
  isProviderType,
  PROVIDER_TYPES,
  type AuthProviderType,
} from '#domain/provider-types';
import { providerSchemaDocument } from '../provider/provider-schema.ts';
import { notFound } from './api-errors.ts';
import { ok, type ApiParts, type Call, type Handlers } from './call.ts';

type TypeParts = Pick<ApiParts, 'baseUrl'>;
type TypeCall = Call<unknown, 'type'>;

const schemaDocument = async (parts: TypeParts, call: TypeCall) =>
  ok(providerSchemaDocument(typeOf(call), parts.baseUrl()));

export const providerTypeHandlers: Handlers<
  TypeParts,
  'listAuthProviderTypes' | 'getAuthProviderType' | 'getAuthProviderTypeSchema' | 'getProviderSchemaDocument'
> = {
  async listAuthProviderTypes() {
    return ok(
      AUTH_PROVIDER_TYPES.map((type) => {
        const { displayName, description } = PROVIDER_TYPES[type].texts;
        return { type, displayName: displayName.en, description: description.en };
      }),
    );
  },

  async getAuthProviderType(_parts, call) {
    const type = typeOf(call);
    return ok({ type, description: PROVIDER_TYPES[type].texts.description.en });
  },

  getAuthProviderTypeSchema: schemaDocument,
  getProviderSchemaDocument: schemaDocument,
};

function typeOf(call: TypeCall): AuthProviderType {
  const { type } = call.parameters;
  if (!isProviderType(type)) throw notFound('Auth provider type', type);
  return type;
}
