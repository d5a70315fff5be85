/** The fields of identities that administrators create. */
import { textsOf } from '#base';
import {
  authPolicyIdOf,
  authPolicyOf,
  DEFAULT_AUTH_POLICY_ID,
  ROUTER_IDENTITY_TYPE,
  type JsonObject,
} from '../../overlay/model/mod.ts';
import { invalidParameter } from '../../overlay/clients/mod.ts';
import { choice, flag, freeObject, texts, textOrNull, whole } from './body-fields.ts';
import { entityReader, MAX_FREE_CHARS } from './body-reader.ts';
import { referenceView, roleAttributeSymbols, type EntityForm } from './entity-form.ts';

const MAX_COST = 65_535;
const PRECEDENCES = ['default', 'required', 'failed'] as const;

export const identityForm: EntityForm = {
  kind: 'identity',
  path: 'identities',
  read: entityReader(
    {
      // OpenZiti keeps `Default` for all types of devices, users and services.
      type: choice(['Default', 'Device', 'User', 'Service']),
      isAdmin: flag(),
      roleAttributes: texts(),
      externalId: textOrNull(),
      authPolicyId: textOrNull(),
      appData: freeObject(MAX_FREE_CHARS),
      defaultHostingCost: whole(MAX_COST),
      defaultHostingPrecedence: choice(PRECEDENCES),
      serviceHostingCosts: freeObject(MAX_FREE_CHARS),
      serviceHostingPrecedences: freeObject(MAX_FREE_CHARS),
    },
    ({ type: _type, ...fields }) => {
      checkValues('serviceHostingCosts', fields.serviceHostingCosts, isCost);
      checkValues('serviceHostingPrecedences', fields.serviceHostingPrecedences, isPrecedence);
      return { ...fields, authPolicyId: fields.authPolicyId ?? DEFAULT_AUTH_POLICY_ID };
    },
  ),
  references: (data) => [
    ...(['serviceHostingCosts', 'serviceHostingPrecedences'] as const).map((field) => ({
      field,
      kind: 'service' as const,
      ids: Object.keys(data[field] ?? {}),
    })),
    { field: 'authPolicyId', kind: 'auth-policy', ids: [authPolicyIdOf({ data })] },
  ],
  symbols: {
    ...roleAttributeSymbols,
    externalId: { type: 'text', read: ({ data }) => (data['externalId'] as string | null) ?? null },
    isAdmin: { type: 'boolean', read: ({ data }) => data['isAdmin'] === true },
    isDefaultAdmin: { type: 'boolean', read: () => false },
    type: { type: 'text', read: ({ data }) => typeOf(data) },
    authPolicyId: { type: 'text', read: authPolicyIdOf },
  },
  view: ({ edge }, { id, data }) => ({
    ...data,
    roleAttributes: textsOf(data['roleAttributes']),
    authPolicy: referenceView('auth-policies', authPolicyIdOf({ data }), authPolicyOf(edge, id).name),
    authPolicyId: authPolicyIdOf({ data }),
    disabled: false,
    interfaces: null,
    isDefaultAdmin: false,
    type: referenceView('identity-types', typeOf(data), typeOf(data)),
    typeId: typeOf(data),
  }),
};

function typeOf(data: JsonObject): string {
  return data['typeId'] === ROUTER_IDENTITY_TYPE ? ROUTER_IDENTITY_TYPE : 'Default';
}

function isCost(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_COST;
}

function isPrecedence(value: unknown): boolean {
  return PRECEDENCES.some((one) => one === value);
}

/** `values` are by the id of a service. */
function checkValues(field: string, values: JsonObject, isValue: (value: unknown) => boolean): void {
  for (const [id, value] of Object.entries(values))
    if (!isValue(value)) throw invalidParameter(field, `${field} has a value that is not allowed`, id);
}
