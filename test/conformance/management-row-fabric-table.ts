/**
 * Operations on the fabric as rows of the same form. What lives for moments only (links, circuits, inspections) has no
 * row: nothing of it is sure to be there.
 */
import { countedPage, type ManagementRow, type AnswerShape } from './management-row.ts';

const SERVICE_NAME_RULE = 'service name (1 to 255 characters without @, no control characters)';
const node = {
  id: 'UUID',
  name: 'string',
  enrolled: 'boolean',
  createdAt: 'time',
} as const satisfies AnswerShape;
const gateway: AnswerShape = { ...node, online: 'boolean', version: 'string or null' };
const router: AnswerShape = {
  ...node,
  online: 'boolean',
  version: 'string or null',
  connectedAt: 'string or null',
  linkListeners: ['string'],
  edgeAddress: 'string or null',
  tunneler: 'boolean',
  roleAttributes: ['string'],
};
const service: AnswerShape = { id: 'UUID', name: 'string', terminatorStrategy: 'string', createdAt: 'time' };
const terminator: AnswerShape = {
  id: 'string',
  kind: 'string',
  serviceId: 'UUID',
  serviceName: 'string',
  routerId: 'UUID',
  routerName: 'string',
  binding: 'string',
  address: 'string',
  instanceId: 'string or null',
  cost: 'integer',
  dynamicCost: 'number',
  precedence: 'string',
  healthy: 'boolean',
};
const nodeName = { name: { value: 'North', type: 'string' } } as const;
const SERVICES = '/fabric/services';
const TERMINATORS = '/fabric/terminators';

const nodeRows: readonly ManagementRow[] = (['routers', 'gateways'] as const).flatMap(
  (kind): readonly ManagementRow[] => [
    {
      table: 'Routers and gateways',
      method: 'POST',
      path: `/fabric/${kind}`,
      body:
        kind === 'routers'
          ? {
              ...nodeName,
              tunneler: { value: true, type: 'boolean', isOptional: true },
              roleAttributes: { value: ['site'], type: 'array', isOptional: true },
            }
          : nodeName,
      status: 201,
      answer: { id: 'UUID', name: 'string', token: 'string' },
      values: { name: 'North' },
      location: `/fabric/${kind}/`,
    },
    {
      table: 'Routers and gateways',
      method: 'GET',
      path: `/fabric/${kind}`,
      status: 200,
      answer: countedPage(kind === 'routers' ? router : gateway),
      absent: ['token'],
      page: { isCounted: true, sort: ['name', 'id', 'createdAt'] },
    },
    {
      table: 'Routers and gateways',
      method: 'DELETE',
      path: `/fabric/${kind}/{id}`,
      at: { id: kind === 'routers' ? '{doomedRouterId}' : '{doomedGatewayId}' },
      status: 204,
      missing: kind === 'routers' ? 'Router' : 'Gateway',
    },
  ],
);

const serviceRows: readonly ManagementRow[] = [
  {
    table: 'Services of the fabric',
    method: 'POST',
    path: SERVICES,
    body: {
      name: { value: 'by-row', type: 'string', format: 'string', rule: SERVICE_NAME_RULE, malformed: 'a@b' },
      terminatorStrategy: { value: 'random', type: 'string', isOptional: true },
    },
    status: 201,
    answer: service,
    values: { name: 'by-row', terminatorStrategy: 'random' },
    location: `${SERVICES}/`,
  },
  {
    table: 'Services of the fabric',
    method: 'GET',
    path: SERVICES,
    status: 200,
    answer: countedPage(service),
    page: { isCounted: true, sort: ['name', 'id', 'createdAt'] },
  },
  {
    table: 'Services of the fabric',
    method: 'GET',
    path: `${SERVICES}/{id}`,
    at: { id: '{serviceId}' },
    status: 200,
    answer: service,
    values: { id: '{serviceId}', terminatorStrategy: 'smartrouting' },
    missing: 'Service',
  },
  {
    table: 'Services of the fabric',
    method: 'PATCH',
    path: `${SERVICES}/{id}`,
    at: { id: '{changedServiceId}' },
    body: {
      name: {
        value: 'renamed by row',
        type: 'string',
        format: 'string',
        rule: SERVICE_NAME_RULE,
        malformed: '@',
        isOptional: true,
      },
    },
    status: 200,
    answer: service,
    values: { id: '{changedServiceId}', name: 'renamed by row' },
    missing: 'Service',
  },
  {
    table: 'Services of the fabric',
    method: 'DELETE',
    path: `${SERVICES}/{id}`,
    at: { id: '{doomedServiceId}' },
    status: 204,
    missing: 'Service',
  },
];

const terminatorRows: readonly ManagementRow[] = [
  {
    table: 'Routers and gateways',
    method: 'GET',
    path: '/fabric/routers/{id}',
    at: { id: '{routerId}' },
    status: 200,
    answer: router,
    values: { id: '{routerId}', online: false, enrolled: false },
    missing: 'Router',
  },
  {
    table: 'Routers and gateways',
    method: 'PATCH',
    path: '/fabric/routers/{id}',
    at: { id: '{routerId}' },
    body: {
      tunneler: { value: true, type: 'boolean', isOptional: true },
      roleAttributes: { value: ['site'], type: 'array', isOptional: true },
    },
    status: 200,
    answer: router,
    values: { id: '{routerId}', tunneler: true },
    missing: 'Router',
  },
  {
    table: 'Terminators',
    method: 'POST',
    path: TERMINATORS,
    body: {
      serviceId: { value: '{serviceId}', type: 'string' },
      routerId: { value: '{routerId}', type: 'string' },
      address: {
        value: 'tcp:127.0.0.1:9',
        type: 'string',
        format: 'tcp:host:port, tls:host:port or udp:host:port',
      },
      precedence: { value: 'required', type: 'string', isOptional: true },
      cost: { value: 0, type: 'integer', isOptional: true },
    },
    status: 201,
    answer: terminator,
    values: {
      kind: 'fabric',
      serviceId: '{serviceId}',
      routerId: '{routerId}',
      address: 'tcp:127.0.0.1:9',
      precedence: 'required',
    },
    location: `${TERMINATORS}/`,
  },
  {
    table: 'Terminators',
    method: 'GET',
    path: TERMINATORS,
    status: 200,
    answer: countedPage(terminator),
    page: { isCounted: true, sort: ['id', 'cost'] },
  },
  {
    table: 'Terminators',
    method: 'GET',
    path: `${TERMINATORS}/{id}`,
    at: { id: '{terminatorId}' },
    status: 200,
    answer: terminator,
    values: { id: '{terminatorId}', cost: 0, precedence: 'default' },
    missing: 'Terminator',
  },
  {
    table: 'Terminators',
    method: 'PATCH',
    path: `${TERMINATORS}/{id}`,
    at: { id: '{terminatorId}' },
    body: { precedence: { value: 'default', type: 'string', isOptional: true } },
    status: 200,
    answer: terminator,
    values: { id: '{terminatorId}', precedence: 'default' },
    missing: 'Terminator',
  },
  {
    table: 'Terminators',
    method: 'DELETE',
    path: `${TERMINATORS}/{id}`,
    at: { id: '{doomedTerminatorId}' },
    status: 204,
    missing: 'Terminator',
  },
];

export const fabricRows: readonly ManagementRow[] = [...nodeRows, ...serviceRows, ...terminatorRows];
