/**
 * What a service's config says about hosting it: `host.v2` with several terminators, `host.v1`, or the older
 * `ziti-tunneler-server.v1`, of which the first one that a service has counts. Unknown fields are ignored. A config that
 * cannot be decoded is an error that names the field.
 */
import { FrontdoorError, parseGoDuration } from '#base';
import { compileReader, Part, Type, type ShapeOf } from '#base/shapes';
import { parseIpNetwork } from '#domain';
import { parseAddress } from '#wire';
import { PRECEDENCE } from '../terminator-options.ts';
import { NO_ADDRESSES, parseAllowedAddresses } from './allowed-address-policy.ts';
import { parseTranslation, type AddressTranslation } from './address-translation-policy.ts';
import { parseHealthAction, type HealthAction } from './health-action-machine.ts';
import type { AllowedSource, HostTarget } from './host-target.ts';

export interface HostListenOptions {
  readonly cost: number | undefined;
  /** As on the wire. */
  readonly precedence: number | undefined;
  /** Template of the instance id; empty for none. */
  readonly identity: string;
  readonly connectTimeoutMs: number;
}

interface CheckBase {
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly actions: readonly HealthAction[];
}

export interface PortCheck extends CheckBase {
  readonly kind: 'port';
  readonly host: string;
  readonly port: number;
}

export interface HttpCheck extends CheckBase {
  readonly kind: 'http';
  readonly url: URL;
  readonly method: string;
  readonly body: string;
  readonly expectStatus: number;
  /** A text that the body of the response contains; empty for any body. */
  readonly expectInBody: string;
}

export type HealthCheckConfig = PortCheck | HttpCheck;

/** One terminator of a hosted service. */
export interface HostTerminatorConfig {
  readonly target: HostTarget;
  readonly listen: HostListenOptions;
  readonly checks: readonly HealthCheckConfig[];
  /** Source addresses that dialers may ask for. */
  readonly allowedSources: readonly AllowedSource[];
  /** An HTTP proxy for connections to the far end. */
  readonly proxy: { readonly host: string; readonly port: number } | undefined;
}

const CONNECT_TIMEOUT_MS = 5_000;
const MAX_TERMINATORS = 64;
const MAX_CHECKS = 32;
const MAX_ACTIONS = 20;
const MIN_CHECK_INTERVAL_MS = 100;
/** Longer timers of Node fire at once. */
const MAX_DURATION_MS = 2 ** 31 - 1;
const INSTANCE_OF_IDENTITY = '$tunneler_id.name';

const { text, texts, flag, port, oneOf, withDefault } = Part;
const optional = Type.Optional;
const protocol = () => oneOf('tcp', 'udp');

const action = Type.Object({
  trigger: oneOf('fail', 'pass', 'change'),
  consecutiveEvents: optional(Part.count(65_535)),
  duration: optional(text()),
  action: text(),
});
const checkFields = {
  interval: text(),
  timeout: text(),
  actions: withDefault(Type.Array(action, { maxItems: MAX_ACTIONS }), []),
};
const portCheck = Type.Object({ ...checkFields, address: text() });
const httpCheck = Type.Object({
  ...checkFields,
  url: text(),
  method: withDefault(oneOf('GET', 'POST', 'PUT', 'PATCH'), 'GET'),
  body: withDefault(text(), ''),
  expectStatus: withDefault(Type.Integer({ minimum: 100, maximum: 599 }), 200),
  expectInBody: withDefault(text(), ''),
});
const checks = {
  portChecks: withDefault(Type.Array(portCheck, { maxItems: MAX_CHECKS }), []),
  httpChecks: withDefault(Type.Array(httpCheck, { maxItems: MAX_CHECKS }), []),
};

/** `maxConnections` limits the routers over which an SDK hosts. A router hosts each entry once, over itself, and an SDK of Frontdoor over each that it has a channel to. */
const listenOptions = Type.Object({
  cost: optional(port()),
  precedence: optional(oneOf('default', 'required', 'failed')),
  identity: withDefault(text(), ''),
  bindUsingEdgeIdentity: withDefault(flag(), false),
  connectTimeout: optional(text()),
  connectTimeoutSeconds: optional(Part.count(2_147_483)),
});

const hostV1 = Type.Object({
  protocol: optional(protocol()),
  forwardProtocol: withDefault(flag(), false),
  allowedProtocols: withDefault(Type.Array(protocol()), []),
  address: optional(Part.someText()),
  forwardAddress: withDefault(flag(), false),
  allowedAddresses: withDefault(texts(), []),
  forwardAddressTranslations: withDefault(
    Type.Array(Type.Object({ from: text(), to: text(), prefixLength: Part.count(128) })),
    [],
  ),
  port: optional(port()),
  forwardPort: withDefault(flag(), false),
  allowedPortRanges: withDefault(Type.Array(Type.Object({ low: port(), high: port() })), []),
  allowedSourceAddresses: withDefault(texts(), []),
  listenOptions: optional(listenOptions),
  ...checks,
  proxy: optional(Type.Object({ type: oneOf('http'), address: text() })),
});
const hostV2 = Type.Object({ terminators: Type.Array(hostV1, { minItems: 1, maxItems: MAX_TERMINATORS }) });
const serverV1 = Type.Object({
  protocol: withDefault(protocol(), 'tcp'),
  hostname: text(),
  port: port(),
  ...checks,
});

type HostV1 = ShapeOf<typeof hostV1>;

const readers = {
  'host.v2': compileReader(hostV2),
  'host.v1': compileReader(hostV1),
  'ziti-tunneler-server.v1': compileReader(serverV1),
};

/** The types of the configs that say how to host a service, the first one that counts first. */
export const HOST_CONFIG_TYPES = ['host.v2', 'host.v1', 'ziti-tunneler-server.v1'] as const;

/** Returns the terminators of a service, one for each entry; empty if no config says how to host it. */
export function decodeHosting(configs: ReadonlyMap<string, unknown>): readonly HostTerminatorConfig[] {
  for (const type of HOST_CONFIG_TYPES) {
    const value = configs.get(type);
    if (value === undefined) continue;
    if (type === 'host.v2') {
      const { terminators } = read(type, value);
      return terminators.map((entry, i) => terminatorOf(entry, `${type}: terminators.${i}.`));
    }
    if (type === 'host.v1') return [terminatorOf(read(type, value), `${type}: `)];
    const { hostname, ...rest } = read(type, value);
    const entry = readers['host.v1']({ ...rest, address: hostname });
    if (!('value' in entry)) throw wrong(`${type}: `, entry.field, entry.rule);
    return [terminatorOf(entry.value, `${type}: `)];
  }
  return [];
}

type Read<K extends keyof typeof readers> = Extract<
  ReturnType<(typeof readers)[K]>,
  { value: unknown }
>['value'];

function read<K extends keyof typeof readers>(type: K, value: unknown): Read<K> {
  const result = readers[type](value);
  if (!('value' in result)) throw wrong(`${type}: `, result.field, result.rule);
  return result.value;
}

function wrong(place: string, field: string, rule: string): FrontdoorError {
  return new FrontdoorError(
    'invalid',
    'invalid-host-config',
    `${place}${field === '' ? 'the config' : field} ${rule}`,
  );
}

function terminatorOf(entry: HostV1, place: string): HostTerminatorConfig {
  return {
    target: targetOf(entry, place),
    listen: listenOf(entry, place),
    checks: [
      ...entry.portChecks.map((check, i) => portCheckOf(check, place, `portChecks.${i}`)),
      ...entry.httpChecks.map((check, i) => httpCheckOf(check, place, `httpChecks.${i}`)),
    ],
    allowedSources: entry.allowedSourceAddresses.map((source, i) => {
      const network = parseIpNetwork(source);
      if (network === undefined)
        throw wrong(place, `allowedSourceAddresses.${i}`, 'must be an IP address or a CIDR');
      return { text: source, network };
    }),
    proxy: entry.proxy === undefined ? undefined : hostPortOf(entry.proxy.address, place, 'proxy.address'),
  };
}

function targetOf(entry: HostV1, place: string): HostTarget {
  const { forwardProtocol, forwardAddress, forwardPort } = entry;
  const needs = (field: string, has: boolean, condition: string): void => {
    if (!has) throw wrong(place, field, `must be given ${condition}`);
  };
  if (forwardProtocol) needs('allowedProtocols', entry.allowedProtocols.length > 0, 'with forwardProtocol');
  else needs('protocol', entry.protocol !== undefined, 'without forwardProtocol');
  if (forwardAddress) needs('allowedAddresses', entry.allowedAddresses.length > 0, 'with forwardAddress');
  else needs('address', entry.address !== undefined, 'without forwardAddress');
  if (forwardPort) needs('allowedPortRanges', entry.allowedPortRanges.length > 0, 'with forwardPort');
  else needs('port', entry.port !== undefined, 'without forwardPort');
  const allowed = forwardAddress ? parseAllowedAddresses(entry.allowedAddresses) : NO_ADDRESSES;
  if ('wrong' in allowed)
    throw wrong(
      place,
      'allowedAddresses',
      `contains "${allowed.wrong}", which is neither an address nor a name`,
    );
  return {
    protocol: forwardProtocol ? undefined : entry.protocol,
    allowedProtocols: entry.allowedProtocols,
    address: forwardAddress ? undefined : entry.address,
    allowedAddresses: allowed,
    translations: forwardAddress ? translationsOf(entry, place) : [],
    port: forwardPort ? undefined : entry.port,
    allowedPorts: entry.allowedPortRanges,
  };
}

function translationsOf(entry: HostV1, place: string): AddressTranslation[] {
  const translations = entry.forwardAddressTranslations.map(({ from, to, prefixLength }, i) => {
    const translation = parseTranslation(from, to, prefixLength);
    if (translation === undefined)
      throw wrong(
        place,
        `forwardAddressTranslations.${i}`,
        'must be two addresses of one family and a prefix length for them',
      );
    return translation;
  });
  return translations.sort((a, b) => b.from.prefixBits - a.from.prefixBits);
}

function listenOf({ listenOptions: listen }: HostV1, place: string): HostListenOptions {
  if (listen === undefined)
    return { cost: undefined, precedence: undefined, identity: '', connectTimeoutMs: CONNECT_TIMEOUT_MS };
  const { cost, precedence, identity, bindUsingEdgeIdentity, connectTimeout, connectTimeoutSeconds } = listen;
  const seconds = connectTimeoutSeconds ?? 0;
  const connectTimeoutMs =
    connectTimeout === undefined
      ? seconds * 1_000
      : durationOf(connectTimeout, place, 'listenOptions.connectTimeout');
  return {
    cost,
    precedence: precedence === undefined ? undefined : PRECEDENCE[precedence],
    identity: bindUsingEdgeIdentity ? INSTANCE_OF_IDENTITY : identity,
    connectTimeoutMs: connectTimeoutMs > 0 ? connectTimeoutMs : CONNECT_TIMEOUT_MS,
  };
}

function checkOf(
  check: HostV1['portChecks'][number] | HostV1['httpChecks'][number],
  place: string,
  field: string,
) {
  const intervalMs = Math.max(MIN_CHECK_INTERVAL_MS, durationOf(check.interval, place, `${field}.interval`));
  const timeoutMs = durationOf(check.timeout, place, `${field}.timeout`);
  return {
    intervalMs,
    timeoutMs: timeoutMs > 0 ? timeoutMs : intervalMs,
    actions: check.actions.map(({ trigger, consecutiveEvents = 0, duration, action: words }, i) => {
      const where = `${field}.actions.${i}`;
      const step = parseHealthAction(words);
      if (step === undefined) throw wrong(place, `${where}.action`, `must be an action, not "${words}"`);
      const durationMs = duration === undefined ? 0 : durationOf(duration, place, `${where}.duration`);
      return { trigger, consecutiveEvents, durationMs, step };
    }),
  };
}

function portCheckOf(check: HostV1['portChecks'][number], place: string, field: string): PortCheck {
  const { host, port: number } = hostPortOf(check.address, place, `${field}.address`);
  return { kind: 'port', ...checkOf(check, place, field), host, port: number };
}

function httpCheckOf(check: HostV1['httpChecks'][number], place: string, field: string): HttpCheck {
  const url = URL.canParse(check.url) ? new URL(check.url) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw wrong(place, `${field}.url`, 'must be an http or https address');
  const { method, body, expectStatus, expectInBody } = check;
  return { kind: 'http', ...checkOf(check, place, field), url, method, body, expectStatus, expectInBody };
}

function durationOf(value: string, place: string, field: string): number {
  const ms = parseGoDuration(value);
  if (ms === undefined || ms < 0) throw wrong(place, field, 'must be a duration such as "5s"');
  return Math.min(ms, MAX_DURATION_MS);
}

function hostPortOf(value: string, place: string, field: string): { host: string; port: number } {
  const address = parseAddress(`tls:${value}`);
  if (address === undefined || address.host === '') throw wrong(place, field, 'must be host:port');
  return { host: address.host, port: address.port };
}
