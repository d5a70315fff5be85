/** The fields that filters and orders of the client API's lists may name. */
import type { ServiceTerminator } from '../../overlay/records/mod.ts';
import type { SessionCertificate } from '../../overlay/clients/mod.ts';
import { entitySet, type QuerySymbols } from '../query/query-symbol.ts';
import {
  isHostedService,
  type Service,
  type EdgeController,
  type EdgeRouter,
  type ServiceGrant,
} from '../../overlay/model/mod.ts';
import type { AuthenticatorRow } from './authenticator-view.ts';
import { sessionIdOf } from './service-tokens.ts';
import { TERMINATOR_STRATEGY } from './service-view.ts';

interface NamedConfig {
  readonly id: string;
  readonly name: string;
}

const configSymbols: QuerySymbols<NamedConfig> = {
  id: { type: 'text', read: ({ id }) => id },
  name: { type: 'text', read: ({ name }) => name },
};

/** Services of one identity: `configs` are those that it sees. */
export function serviceSymbols(
  configsOf: (service: Service) => readonly NamedConfig[],
): QuerySymbols<Service> {
  return {
    id: { type: 'text', read: ({ id }) => id },
    name: { type: 'text', read: ({ name }) => name },
    createdAt: { type: 'date', read: ({ updatedAtMs }) => updatedAtMs },
    updatedAt: { type: 'date', read: ({ updatedAtMs }) => updatedAtMs },
    isSystem: { type: 'boolean', read: () => false },
    terminatorStrategy: { type: 'text', read: () => TERMINATOR_STRATEGY },
    configs: entitySet({
      read: configsOf,
      idOf: ({ id }: NamedConfig) => id,
      cost: () => 1,
      symbols: () => configSymbols,
    }),
    roleAttributes: {
      type: 'texts',
      read: (service) => (isHostedService(service) ? [] : [...service.roleAttributes]),
    },
    tags: { type: 'tags', read: ({ tags }) => tags },
  };
}

export const routerSymbols: QuerySymbols<EdgeRouter> = {
  id: { type: 'text', read: ({ id }) => id },
  name: { type: 'text', read: ({ name }) => name },
  online: { type: 'boolean', read: ({ isOnline }) => isOnline },
  connected: { type: 'boolean', read: ({ isOnline }) => isOnline },
  isSystem: { type: 'boolean', read: () => false },
  disabled: { type: 'boolean', read: ({ traits }) => traits?.isDisabled === true },
  noTraversal: { type: 'boolean', read: ({ traits }) => traits?.noTraversal === true },
  cost: { type: 'number', read: ({ traits }) => traits?.cost ?? 0 },
  roleAttributes: { type: 'texts', read: () => [] },
  tags: { type: 'tags', read: () => ({}) },
};

export const controllerSymbols: QuerySymbols<EdgeController> = {
  id: { type: 'text', read: ({ id }) => id },
  name: { type: 'text', read: ({ id }) => id },
  createdAt: { type: 'date', read: ({ startedAtMs }) => startedAtMs },
  updatedAt: { type: 'date', read: ({ startedAtMs }) => startedAtMs },
  lastJoinedAt: { type: 'date', read: ({ startedAtMs }) => startedAtMs },
  isOnline: { type: 'boolean', read: ({ isOnline }) => isOnline },
  isSystem: { type: 'boolean', read: () => false },
  tags: { type: 'tags', read: () => ({}) },
};

export const terminatorSymbols: QuerySymbols<ServiceTerminator> = {
  id: { type: 'text', read: ({ id }) => id },
  identity: { type: 'text', read: ({ instanceId }) => instanceId },
  router: { type: 'text', read: ({ routerId }) => routerId },
  service: { type: 'text', read: ({ serviceId }) => serviceId },
};

export const authenticatorSymbols: QuerySymbols<AuthenticatorRow> = {
  id: { type: 'text', read: ({ id }) => id },
  method: { type: 'text', read: ({ method }) => method },
  fingerprint: { type: 'text', read: ({ fingerprint }) => fingerprint ?? null },
  username: { type: 'text', read: ({ username }) => username ?? null },
  createdAt: { type: 'date', read: ({ createdAtMs }) => createdAtMs },
  updatedAt: { type: 'date', read: ({ updatedAtMs }) => updatedAtMs },
  isSystem: { type: 'boolean', read: () => false },
  tags: { type: 'tags', read: () => ({}) },
};

export const serviceSessionSymbols: QuerySymbols<ServiceGrant> = {
  id: { type: 'text', read: sessionIdOf },
  apiSession: { type: 'text', read: ({ apiSessionId }) => apiSessionId },
  service: { type: 'text', read: ({ serviceId }) => serviceId },
  identity: { type: 'text', read: ({ identityId }) => identityId },
  type: { type: 'text', read: ({ type }) => type },
  isSystem: { type: 'boolean', read: () => false },
  tags: { type: 'tags', read: () => ({}) },
};

export const sessionCertificateSymbols: QuerySymbols<SessionCertificate> = {
  id: { type: 'text', read: ({ id }) => id },
  fingerprint: { type: 'text', read: ({ fingerprint }) => fingerprint },
  createdAt: { type: 'date', read: ({ createdAtMs }) => createdAtMs },
  updatedAt: { type: 'date', read: ({ createdAtMs }) => createdAtMs },
  validFrom: { type: 'date', read: ({ createdAtMs }) => createdAtMs },
  validTo: { type: 'date', read: ({ untilMs }) => untilMs },
  isSystem: { type: 'boolean', read: () => false },
  tags: { type: 'tags', read: () => ({}) },
};
