/** Lists that the edge management API derives from what the overlay and the store have. */
import type { FastifyInstance } from 'fastify';
import { controllerSymbols } from '../client-api/entity-symbols.ts';
import { controllerView } from '../client-api/controller-view.ts';
import { EDGE_PATH, MANAGEMENT_PATH } from '../client-api/information-routes.ts';
import { notFound, queryOf, sendData } from '../../overlay/clients/mod.ts';
import { sendPage } from '../client-api/list-answer.ts';
import { sessionIdOf } from '../client-api/service-tokens.ts';
import type { QuerySymbols } from '../query/query-symbol.ts';
import {
  POSTURE_CHECK_TYPES,
  type EdgeController,
  type EdgeEntityRecord,
  type JsonObject,
  type PostureCheckType,
} from '../../overlay/model/mod.ts';
import { entityCounts } from './entity-counts.ts';
import { commonSymbols, entityView, referenceView } from './entity-form.ts';
import type { ManagementParts } from './entity-resource.ts';
import { roleAttributesOf } from './identity-resource.ts';
import { terminatorResource } from './terminator-resource.ts';

interface ById {
  Params: { id: string };
}

const POSTURE_TYPE_NAMES: Readonly<Record<PostureCheckType, string>> = {
  OS: 'Operating System Check',
  DOMAIN: 'Windows Domain Check',
  MAC: 'MAC Address Check',
  MFA: 'MFA Check',
  PROCESS: 'Process Check',
  PROCESS_MULTI: 'Multi Process Check',
};

const TYPES: readonly EdgeEntityRecord[] = ['Default', 'Router'].map((name) => ({
  id: name,
  kind: 'identity',
  name,
  data: {},
  tags: {},
  createdAtMs: 0,
  updatedAtMs: 0,
}));

/** Checks of any type apply to every operating system that reports what they need. */
const POSTURE_TYPES: readonly EdgeEntityRecord[] = POSTURE_CHECK_TYPES.map((id) => ({
  id,
  kind: 'posture-check',
  name: POSTURE_TYPE_NAMES[id],
  data: { operatingSystems: [] },
  tags: {},
  createdAtMs: 0,
  updatedAtMs: 0,
}));

export function addManagementLists(app: FastifyInstance, parts: ManagementParts): void {
  const { model } = parts;
  const { controllers } = parts.addresses;
  const constants = [
    ['identity-types', TYPES],
    ['posture-check-types', POSTURE_TYPES],
  ] as const;
  for (const [path, entities] of constants) {
    const viewOf = (entity: EdgeEntityRecord) => ({ ...entityView(path, entity), ...entity.data });
    app.get(`/${path}`, (request, reply) =>
      sendPage(reply, queryOf(request), entities, commonSymbols, viewOf),
    );
    app.get<ById>(`/${path}/:id`, (request, reply) => {
      const entity = entities.find(({ id }) => id === request.params.id);
      if (entity === undefined) throw notFound();
      return sendData(reply, viewOf(entity));
    });
  }

  for (const [path, kind] of [
    ['identity-role-attributes', 'identity'],
    ['service-role-attributes', 'service'],
    ['edge-router-role-attributes', 'edge-router'],
    ['posture-check-role-attributes', 'posture-check'],
  ] as const) {
    app.get(`/${path}`, (request, reply) =>
      sendPage(
        reply,
        queryOf(request),
        roleAttributesOf(model.edge.all(kind)),
        attributeSymbols,
        (one) => one,
      ),
    );
  }

  app.get('/summary', async (_request, reply) => sendData(reply, await entityCounts(parts)));

  app.get<ById>('/services/:id/terminators', async (request, reply) => {
    if (model.edge.service(request.params.id) === undefined) throw notFound();
    const all = await terminatorResource.all(parts);
    const found = all.filter(({ data }) => data['service'] === request.params.id);
    const viewOf = await terminatorResource.viewer(parts);
    return sendPage(reply, queryOf(request), found, terminatorResource.form.symbols, viewOf);
  });

  app.get('/controllers', (request, reply) =>
    sendPage(reply, queryOf(request), controllers(), controllerSymbols, controllerDetail),
  );
  app.get<ById>('/controllers/:id', (request, reply) => {
    const controller = controllers().find(({ id }) => id === request.params.id);
    if (controller === undefined) throw notFound();
    return sendData(reply, controllerDetail(controller));
  });

  app.get('/sessions', (request, reply) =>
    sendPage(reply, queryOf(request), serviceSessionsOf(parts), serviceSessionSymbols, (one) => one),
  );

  app.get('/api-sessions', (request, reply) => {
    const sessions = [...parts.sessions.all()].filter(({ identityId }) => model.edge.hasIdentity(identityId));
    return sendPage(reply, queryOf(request), sessions, sessionSymbols, ({ id, identityId }) => ({
      _links: { self: { href: `./api-sessions/${id}` } },
      id,
      identity: referenceView('identities', identityId, model.identity(identityId)?.name ?? ''),
      identityId,
      tags: {},
    }));
  });
  app.delete<ById>('/api-sessions/:id', async (request, reply) => {
    const session = parts.sessions.byId(request.params.id);
    if (session === undefined || !model.edge.hasIdentity(session.identityId)) throw notFound();
    await parts.sessions.remove(session.id);
    return sendData(reply, {});
  });
}

/** As at the client API, with the addresses of this one. */
function controllerDetail(controller: EdgeController): JsonObject {
  const { apiAddresses, ...view } = controllerView(controller, EDGE_PATH);
  const management = controller.apiUrls.map((url) => ({ url: `${url}${MANAGEMENT_PATH}`, version: 'v1' }));
  return { ...view, apiAddresses: { ...(apiAddresses as JsonObject), 'edge-management': management } };
}

const attributeSymbols: QuerySymbols<string> = { id: { type: 'text', read: (one) => one } };

const sessionSymbols: QuerySymbols<{ readonly id: string; readonly identityId: string }> = {
  id: { type: 'text', read: ({ id }) => id },
  identity: { type: 'text', read: ({ identityId }) => identityId },
};

interface ServiceSession {
  readonly id: string;
  readonly type: 'Dial' | 'Bind';
  readonly apiSessionId: string;
  readonly identityId: string;
  readonly serviceId: string;
  readonly service: JsonObject;
  readonly tags: JsonObject;
}

const MAX_SERVICE_SESSIONS = 10_000;

const serviceSessionSymbols: QuerySymbols<ServiceSession> = {
  id: { type: 'text', read: ({ id }) => id },
  type: { type: 'text', read: ({ type }) => type },
  apiSession: { type: 'text', read: ({ apiSessionId }) => apiSessionId },
  identity: { type: 'text', read: ({ identityId }) => identityId },
  service: { type: 'text', read: ({ serviceId }) => serviceId },
};

/** Each permission of a client that is logged in is a session (see the client API). The list has an end. */
function serviceSessionsOf({ model, sessions, clock }: ManagementParts): ServiceSession[] {
  const found: ServiceSession[] = [];
  for (const { id: apiSessionId, identityId, isSigned, posture } of sessions.all()) {
    for (const { id: serviceId, name } of model.edge.servicesOf(identityId)) {
      for (const type of ['Dial', 'Bind'] as const) {
        const policies = [...model.edge.grantingPolicies(type, identityId, serviceId)];
        if (policies.length === 0) continue;
        const failed = model.edge.postureChecks.failuresOf(policies, posture, clock.nowMs());
        if (!isSigned && failed !== undefined) continue;
        const id = sessionIdOf({ apiSessionId, identityId, serviceId, type });
        const service = referenceView('services', serviceId, name);
        found.push({ id, type, apiSessionId, identityId, serviceId, service, tags: {} });
        if (found.length === MAX_SERVICE_SESSIONS) return found;
      }
    }
  }
  return found;
}
