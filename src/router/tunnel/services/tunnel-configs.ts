/**
 * The configs that say how programs reach a service through this router: `intercept.v1` or, in its place, the older
 * `ziti-tunneler-client.v1`, and `proxy.v1`. Unknown fields are ignored.
 */
import type { Log } from '#base';
import { compileReader, Part, Type, type SchemaReader, type ShapeOf } from '#base/shapes';
import type { TunnelService } from './tunnel-service.ts';

const protocols = Type.Array(Part.oneOf('tcp', 'udp'), { minItems: 1 });

const interceptSchema = Type.Object({
  protocols,
  /** IP addresses, CIDRs, host names, and `*.domain`. */
  addresses: Type.Array(Part.someText(), { minItems: 1 }),
  /** Inclusive. */
  portRanges: Type.Array(Type.Object({ low: Part.port(), high: Part.port() }), { minItems: 1 }),
  dialOptions: Part.withDefault(
    Type.Object({
      connectTimeoutSeconds: Type.Optional(Part.number()),
      /** Template of the terminator instance. */
      identity: Type.Optional(Part.text()),
    }),
    {},
  ),
  /** Template of the source address, `ip` or `ip:port`. */
  sourceIp: Type.Optional(Part.text()),
  /** IP addresses and CIDRs. Without this field, every client is intercepted. */
  allowedSourceAddresses: Type.Optional(Part.texts()),
});

const clientSchema = Type.Object({ hostname: Part.someText(), port: Part.port() });

const proxySchema = Type.Object({
  port: Part.number(),
  protocols,
  /** An IP address or the name of a network interface. */
  binding: Type.Optional(Part.text()),
});

export type InterceptConfig = ShapeOf<typeof interceptSchema>;
export type ProxyConfig = ShapeOf<typeof proxySchema>;

const readIntercept = compileReader(interceptSchema);
const readClient = compileReader(clientSchema);
const readProxy = compileReader(proxySchema);

/** Returns undefined if the service has no such config, or one that cannot be read, which is logged. */
export function interceptConfigOf(service: TunnelService, log: Log): InterceptConfig | undefined {
  if (service.configs.has('intercept.v1')) return configOf(service, 'intercept.v1', readIntercept, log);
  const client = configOf(service, 'ziti-tunneler-client.v1', readClient, log);
  if (client === undefined) return undefined;
  const { hostname, port } = client;
  return {
    protocols: ['tcp', 'udp'],
    addresses: [hostname],
    portRanges: [{ low: port, high: port }],
    dialOptions: {},
  };
}

/** Returns undefined if the service has no such config, or one that cannot be read, which is logged. */
export function proxyConfigOf(service: TunnelService, log: Log): ProxyConfig | undefined {
  return configOf(service, 'proxy.v1', readProxy, log);
}

/** Reads a config of the service by the name of its type. Returns undefined like the functions above. */
export function configOf<T>(
  service: TunnelService,
  type: string,
  read: SchemaReader<T>,
  log: Log,
): T | undefined {
  const config = service.configs.get(type);
  if (config === undefined) return undefined;
  const outcome = read(config);
  if ('value' in outcome) return outcome.value;
  const field = outcome.field === '' ? type : `${type}.${outcome.field}`;
  log.error({ service: service.name, problem: `${field} ${outcome.rule}` }, 'config cannot be read');
  return undefined;
}
