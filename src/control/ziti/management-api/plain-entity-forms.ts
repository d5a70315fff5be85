/** The kinds of entities whose rows are all that there is to them. Identities and routers have more. */
import { textsOf } from '#base';
import type { TProperties } from 'typebox';
import {
  namedIds,
  type EdgeEntityRecord,
  type JsonObject,
  type OverlayModel,
} from '../../overlay/model/mod.ts';
import { invalidParameter } from '../../overlay/clients/mod.ts';
import { choice, flag, freeObject, text, texts } from './body-fields.ts';
import { entityReader, quoted } from './body-reader.ts';
import {
  commonSymbols,
  referenceView,
  roleAttributeSymbols,
  type EntityForm,
  type Reference,
} from './entity-form.ts';

const MAX_CONFIG_CHARS = 65_536;
/** OpenZiti's numbers for the types of service policies, which filters use. */
const POLICY_TYPE = { Dial: 1, Bind: 2 } as const;

const none = (): readonly Reference[] => [];

const services: EntityForm = {
  kind: 'service',
  path: 'services',
  read: entityReader(
    { roleAttributes: texts(), configs: texts(), encryptionRequired: flag() },
    (fields) => fields,
    { accepted: { terminatorStrategy: ['smartrouting'], maxIdleTimeMillis: [] } },
  ),
  references: (data) => [{ field: 'configs', kind: 'config', ids: textsOf(data['configs']) }],
  symbols: {
    ...roleAttributeSymbols,
    configs: { type: 'texts', read: ({ data }) => textsOf(data['configs']) },
    terminatorStrategy: { type: 'text', read: () => 'smartrouting' },
    encryptionRequired: { type: 'boolean', read: ({ data }) => data['encryptionRequired'] === true },
  },
  view: (_model, { data }) => ({
    config: {},
    configs: [],
    encryptionRequired: true,
    roleAttributes: [],
    ...data,
    maxIdleTimeMillis: 0,
    permissions: [],
    postureQueries: [],
    terminatorStrategy: 'smartrouting',
  }),
};

const configTypes: EntityForm = {
  kind: 'config-type',
  path: 'config-types',
  read: entityReader({ schema: freeObject(MAX_CONFIG_CHARS) }),
  references: none,
  symbols: commonSymbols,
  view: (_model, { data }) => ({ schema: data['schema'] ?? {} }),
};

const configs: EntityForm = {
  kind: 'config',
  path: 'configs',
  read: entityReader({ configTypeId: text(), data: freeObject(MAX_CONFIG_CHARS) }),
  references: ({ configTypeId }) => [
    { field: 'configTypeId', kind: 'config-type', ids: [String(configTypeId)] },
  ],
  symbols: { ...commonSymbols, type: { type: 'text', read: ({ data }) => String(data['configTypeId']) } },
  view(model, { data }) {
    const id = String(data['configTypeId']);
    const name = model.edge.get('config-type', id)?.name ?? '';
    return { configType: referenceView('config-types', id, name), configTypeId: id, data: data['data'] };
  },
};

/** The fields of a policy that select entities, with the kind that they select and its path. */
const ROLE_FIELDS = {
  identityRoles: ['identity', 'identities'],
  serviceRoles: ['service', 'services'],
  edgeRouterRoles: ['edge-router', 'edge-routers'],
  postureCheckRoles: ['posture-check', 'posture-checks'],
} as const;
type RoleField = keyof typeof ROLE_FIELDS;

/** Roles of a policy are `#attribute` or `@id`. */
function policyReader(roleFields: readonly RoleField[], more: TProperties = {}) {
  const roles = Object.fromEntries(roleFields.map((field) => [field, texts()]));
  const fields = { ...more, semantic: choice(['AllOf', 'AnyOf']), ...roles };
  return entityReader(fields, (data: JsonObject) => {
    for (const field of roleFields) {
      const wrong = textsOf(data[field]).find((role) => !/^[#@]./.test(role));
      if (wrong !== undefined)
        throw invalidParameter(field, `role ${wrong} must begin with # or @`, quoted(data[field]));
    }
    return data;
  });
}

function policyReferences(fields: readonly RoleField[]) {
  return (data: JsonObject): readonly Reference[] =>
    fields.map((field) => ({ field, kind: ROLE_FIELDS[field][0], ids: namedIds(textsOf(data[field])) }));
}

function policyView(fields: readonly RoleField[]) {
  return (model: OverlayModel, { data }: EdgeEntityRecord): JsonObject => ({
    ...data,
    ...Object.fromEntries(fields.map((field) => [`${field}Display`, displayed(model, field, data[field])])),
  });
}

function displayed(model: OverlayModel, field: RoleField, roles: unknown): readonly JsonObject[] {
  const [kind] = ROLE_FIELDS[field];
  return textsOf(roles).map((role) => {
    const id = role.slice(1);
    const named = kind === 'edge-router' ? model.identity(id) : model.edge.get(kind, id);
    return { role, name: role.startsWith('@') && named !== undefined ? `@${named.name}` : role };
  });
}

const SERVICE_POLICY_ROLES = ['identityRoles', 'serviceRoles', 'postureCheckRoles'] as const;
const ROUTER_POLICY_ROLES = ['identityRoles', 'edgeRouterRoles'] as const;
const SERVICE_ROUTER_POLICY_ROLES = ['serviceRoles', 'edgeRouterRoles'] as const;

const policySymbols = {
  ...commonSymbols,
  semantic: { type: 'text', read: ({ data }: EdgeEntityRecord) => String(data['semantic']) },
} as const;

const servicePolicies: EntityForm = {
  kind: 'service-policy',
  path: 'service-policies',
  read: policyReader(SERVICE_POLICY_ROLES, { type: choice(['Dial', 'Bind']) }),
  references: policyReferences(SERVICE_POLICY_ROLES),
  symbols: {
    ...policySymbols,
    type: { type: 'number', read: ({ data }) => POLICY_TYPE[data['type'] === 'Bind' ? 'Bind' : 'Dial'] },
  },
  view: (model, entity) => ({ postureCheckRoles: [], ...policyView(SERVICE_POLICY_ROLES)(model, entity) }),
};

const edgeRouterPolicies: EntityForm = {
  kind: 'edge-router-policy',
  path: 'edge-router-policies',
  read: policyReader(ROUTER_POLICY_ROLES),
  references: policyReferences(ROUTER_POLICY_ROLES),
  symbols: policySymbols,
  view: (model, entity) => ({ ...policyView(ROUTER_POLICY_ROLES)(model, entity), isSystem: false }),
};

const serviceEdgeRouterPolicies: EntityForm = {
  kind: 'service-edge-router-policy',
  path: 'service-edge-router-policies',
  read: policyReader(SERVICE_ROUTER_POLICY_ROLES),
  references: policyReferences(SERVICE_ROUTER_POLICY_ROLES),
  symbols: policySymbols,
  view: policyView(SERVICE_ROUTER_POLICY_ROLES),
};

export const ENTITY_FORMS: readonly EntityForm[] = [
  services,
  configTypes,
  configs,
  servicePolicies,
  edgeRouterPolicies,
  serviceEdgeRouterPolicies,
];
