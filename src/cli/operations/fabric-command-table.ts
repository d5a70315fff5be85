/** Commands of the operations on the fabric: lists of its current state, and changes by administrators. */
import type { OperationId } from '#contract';
import type { ElsewhereCommand, OperationCommand } from './operation-command.ts';

const ownFile = 'writes the token into a file that only its owner can read';
const ROUTER = '0d8a64f8-6a52-4f0e-9d5e-4b8c0d1c7a22';
const SERVICE = '5c1e0f0a-9d7a-4d7c-8a53-0c4a3f6f2b11';
const TERMINATOR = '4Ax3kQ9vWb2nTz7LmR1sYd';

const byRouter = { called: { routerId: 'router' } } as const;
const byBoth = { called: { routerId: 'router', serviceId: 'service' } } as const;

export const FABRIC_COMMANDS = {
  createRouter: { elsewhere: ['fabric', 'router', 'create'], reason: ownFile },
  listRouters: {
    noun: 'fabric',
    verb: 'routers',
    alias: 'router list',
    columns: ['id', 'name', 'enrolled', 'online', 'version'],
    entries: 'routers',
    examples: ['fabric routers', 'fabric routers --sort name --json'],
  },
  getRouter: { noun: 'fabric', verb: 'router get', examples: [`fabric router get ${ROUTER}`] },
  changeRouter: {
    noun: 'fabric',
    verb: 'router change',
    called: { roleAttributes: 'role-attribute' },
    examples: [`fabric router change ${ROUTER} --role-attribute site --role-attribute east --tunneler`],
  },
  deleteRouter: { noun: 'fabric', verb: 'router delete', examples: [`fabric router delete ${ROUTER}`] },
  createGateway: { elsewhere: ['fabric', 'gateway', 'create'], reason: ownFile },
  listGateways: {
    noun: 'fabric',
    verb: 'gateways',
    alias: 'gateway list',
    columns: ['id', 'name', 'enrolled', 'online', 'version'],
    entries: 'gateways',
    examples: ['fabric gateways'],
  },
  getGateway: { noun: 'fabric', verb: 'gateway get', examples: [`fabric gateway get ${ROUTER}`] },
  deleteGateway: { noun: 'fabric', verb: 'gateway delete', examples: [`fabric gateway delete ${ROUTER}`] },

  listLinks: {
    noun: 'fabric',
    verb: 'links',
    columns: ['id', 'sourceRouterName', 'destinationRouterName', 'cost', 'usable'],
    entries: 'links',
    ...byRouter,
    examples: ['fabric links', 'fabric links --router east --sort cost', 'fabric links --json'],
  },
  getMesh: {
    noun: 'fabric',
    verb: 'mesh',
    view: 'json',
    examples: ['fabric mesh'],
  },
  getRoute: {
    noun: 'fabric',
    verb: 'route',
    view: 'json',
    examples: ['fabric route --router-id east --service-id database'],
  },
  listCircuits: {
    noun: 'fabric',
    verb: 'circuits',
    columns: ['id', 'serviceName', 'routerNames', 'cost', 'createdAt'],
    entries: 'circuits',
    ...byBoth,
    examples: ['fabric circuits --limit 50', 'fabric circuits --router east --service database'],
  },
  endCircuit: {
    noun: 'fabric',
    verb: 'circuit end',
    done: 'ended',
    examples: ['fabric circuit end 2Yc4pQ8sWd6nTz3LmR9vXb'],
  },

  listFabricServices: {
    noun: 'fabric',
    verb: 'services',
    columns: ['id', 'name', 'terminatorStrategy'],
    entries: 'services',
    examples: ['fabric services'],
  },
  createFabricService: {
    noun: 'fabric',
    verb: 'service create',
    fieldArguments: ['name'],
    called: { terminatorStrategy: 'strategy' },
    examples: ['fabric service create database', 'fabric service create database --strategy weighted'],
  },
  getFabricService: { noun: 'fabric', verb: 'service get', examples: [`fabric service get ${SERVICE}`] },
  changeFabricService: {
    noun: 'fabric',
    verb: 'service change',
    called: { terminatorStrategy: 'strategy' },
    examples: [`fabric service change ${SERVICE} --strategy ha`],
  },
  deleteFabricService: {
    noun: 'fabric',
    verb: 'service delete',
    examples: [`fabric service delete ${SERVICE}`],
  },

  listTerminators: {
    noun: 'fabric',
    verb: 'terminators',
    columns: ['id', 'serviceName', 'routerName', 'address', 'cost'],
    entries: 'terminators',
    ...byBoth,
    examples: ['fabric terminators', 'fabric terminators --service database --json-lines'],
  },
  createTerminator: {
    noun: 'fabric',
    verb: 'terminator create',
    fieldArguments: ['serviceId'],
    ...byBoth,
    examples: [
      'fabric terminator create database --router east --address tcp:127.0.0.1:5432',
      'fabric terminator create database --router east --address tls:db.internal:443 --cost 10 --precedence required',
    ],
  },
  getTerminator: {
    noun: 'fabric',
    verb: 'terminator get',
    examples: [`fabric terminator get ${TERMINATOR}`],
  },
  changeTerminator: {
    noun: 'fabric',
    verb: 'terminator change',
    bodyOnly: {
      serviceId: 'it cannot be changed',
      routerId: 'it cannot be changed',
      binding: 'it cannot be changed',
    },
    examples: [`fabric terminator change ${TERMINATOR} --cost 20`],
  },
  deleteTerminator: {
    noun: 'fabric',
    verb: 'terminator delete',
    examples: [`fabric terminator delete ${TERMINATOR}`],
  },
  inspectRouters: {
    noun: 'fabric',
    verb: 'inspect',
    view: 'inspection',
    fieldArguments: ['names'],
    ...byRouter,
    examples: ['fabric inspect links', 'fabric inspect links metrics --router east --json'],
  },
} as const satisfies Partial<Record<OperationId, OperationCommand | ElsewhereCommand>>;
