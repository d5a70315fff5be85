/**
 * The types of configs that OpenZiti's tunnelers know, with OpenZiti's names. They are in no database, and cannot be
 * changed. Their schemas check the forms of fields; further fields are allowed.
 */
import type { EdgeEntityRecord, JsonObject } from './edge-entity.ts';

const PORT = { type: 'integer', minimum: 0, maximum: 65_535 };
const TEXT = { type: 'string', minLength: 1 };
const FLAG = { type: 'boolean' };
const PROTOCOL = { type: 'string', enum: ['tcp', 'udp'] };
const PROTOCOLS = { type: 'array', items: PROTOCOL, minItems: 1 };
const TEXTS = { type: 'array', items: TEXT };
const PORT_RANGES = {
  type: 'array',
  items: { type: 'object', properties: { low: PORT, high: PORT }, required: ['low', 'high'] },
};

const HOST: JsonObject = {
  type: 'object',
  properties: {
    address: TEXT,
    port: PORT,
    protocol: PROTOCOL,
    forwardAddress: FLAG,
    forwardPort: FLAG,
    forwardProtocol: FLAG,
    allowedAddresses: TEXTS,
    allowedPortRanges: PORT_RANGES,
    allowedProtocols: PROTOCOLS,
    allowedSourceAddresses: TEXTS,
    listenOptions: { type: 'object' },
    httpChecks: { type: 'array' },
    portChecks: { type: 'array' },
    proxy: { type: 'object' },
  },
};

const INTERCEPT: JsonObject = {
  type: 'object',
  properties: {
    protocols: PROTOCOLS,
    addresses: { ...TEXTS, minItems: 1 },
    portRanges: { ...PORT_RANGES, minItems: 1 },
    allowedSourceAddresses: TEXTS,
    dialOptions: { type: 'object' },
    sourceIp: { type: 'string' },
  },
  required: ['protocols', 'addresses', 'portRanges'],
};

export const BUILT_IN_CONFIG_TYPES: readonly EdgeEntityRecord[] = [
  typeOf('host.v1', HOST),
  typeOf('host.v2', {
    type: 'object',
    properties: { terminators: { type: 'array', items: HOST, minItems: 1 } },
    required: ['terminators'],
  }),
  typeOf('intercept.v1', INTERCEPT),
  typeOf('proxy.v1', {
    type: 'object',
    properties: { protocols: PROTOCOLS, port: PORT, binding: { type: 'string' } },
    required: ['protocols', 'port'],
  }),
  typeOf('ziti-tunneler-client.v1', {
    type: 'object',
    properties: { hostname: TEXT, port: PORT },
    required: ['hostname', 'port'],
  }),
  typeOf('ziti-tunneler-server.v1', {
    type: 'object',
    properties: { hostname: TEXT, port: PORT, protocol: { type: 'string' } },
    required: ['hostname', 'port'],
  }),
];

function typeOf(name: string, schema: JsonObject): EdgeEntityRecord {
  return { id: name, kind: 'config-type', name, data: { schema }, tags: {}, createdAtMs: 0, updatedAtMs: 0 };
}
