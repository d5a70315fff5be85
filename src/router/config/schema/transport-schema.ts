/** `transport`, and sections about connections that OpenZiti has in addition to the requirement's. */
import { secretOf } from '#base';
import {
  duration,
  flag,
  integer,
  legacy,
  list,
  oneOf,
  section,
  text,
  timerMs,
  unsupported,
} from '../schema-field.ts';

const count = (about: string) => integer(about);
const seconds = (about: string) => integer(`Seconds. ${about}`);
const SECOND_MS = 1_000;

function wholeSeconds<Name extends keyof typeof DEFAULT_WEB_SOCKET_TIMES>(about: string, as: Name) {
  const secondsByDefault = DEFAULT_WEB_SOCKET_TIMES[as] / SECOND_MS;
  return integer(`Seconds. ${about}`, {
    as,
    default: secondsByDefault,
    least: 1,
    isExtra: true,
    decode: (value: number) => timerMs(value * SECOND_MS),
  });
}

/** Times of WebSockets without the section `transport.wss`. */
export const DEFAULT_WEB_SOCKET_TIMES = {
  handshakeTimeoutMs: 10_000,
  readTimeoutMs: 5_000,
  pingIntervalMs: 54_000,
  pongTimeoutMs: 60_000,
};

export const transportSection = section('Tuning of underlays.', { isEmptyAllowed: true, isCommented: true })({
  'westworld3?': unsupported(
    section('An underlay that OpenZiti removed, and that this router does not have.', {
      isCommented: true,
    })({
      'profile_version?': integer('Version of the profile.', { example: 1 }),
      'tx_portal_min_sz?': integer('Smallest window.', { example: 16_384 }),
      'tx_portal_max_sz?': integer('Largest window.', { example: 4_194_304 }),
      'instrument?': section('The measured resource.')({
        'name?': text('Name.', 'any-text', { example: 'metrics' }),
        'path?': text('Path of the output.', 'any-text', { example: 'westworld3' }),
        'snapshot_ms?': integer('Interval of snapshots in milliseconds.', { example: 1_000 }),
        'enabled?': flag('Whether it is enabled.'),
      }),
    }),
  ),
  'dtls?': unsupported(
    section('Datagram TLS.', { isExtra: true })({
      'writeBufferSize?': count('Bytes.'),
      'readBufferSize?': count('Bytes.'),
      'maxBytesPerSecond?': count('Bytes.'),
    }),
  ),
  'wss?': section('WebSockets of edge listeners with an address of wss or ws.', { isExtra: true })({
    readTimeout: wholeSeconds('Time limit for the request of a WebSocket.', 'readTimeoutMs'),
    handshakeTimeout: wholeSeconds('Time limit for the TLS handshake inside.', 'handshakeTimeoutMs'),
    pingInterval: wholeSeconds('Interval of pings.', 'pingIntervalMs'),
    pongTimeout: wholeSeconds('Age of the last response to a ping that ends a WebSocket.', 'pongTimeoutMs'),
    'writeTimeout?': unsupported(seconds('Time limit of the answer to a request.')),
    'idleTimeout?': unsupported(seconds('Between requests. Each connection has one request here.')),
    'readBufferSize?': unsupported(count('Bytes.')),
    'writeBufferSize?': unsupported(count('Bytes.')),
    'enableCompression?': unsupported(flag('Whether messages, which are encrypted, are compressed.')),
    'identity?': legacy('Certificates of its own, which this version refuses at the start.'),
  }),
  'ws?': legacy('Only in generated files; OpenZiti reads wss.'),
  'proxy?': legacy('Set by OpenZiti from the section of that name.'),
  'handshakeTimeout?': unsupported(duration('Time limit for handshakes of datagram TLS.', { isExtra: true })),
});

export const proxySection = section('A proxy for control channels and links.', {
  isFilled: true,
  isKindLenient: true,
  isEmptyAllowed: true,
  isExtra: true,
})(
  {
    type: oneOf('http: connections go through a proxy with CONNECT.', ['none', 'http'], { default: 'none' }),
    'address?': text('The proxy, <host>:<port>.', 'host-port', {
      isCommented: true,
      example: 'proxy.example:3128',
    }),
    'username?': text('The user name for the proxy.', 'any-text', { isCommented: true, example: 'router' }),
    'password?': text('The password for the proxy.', 'any-text', {
      isSecret: true,
      decode: secretOf,
      isCommented: true,
      example: 'secret',
    }),
  },
  ({ type, address, ...credentials }) =>
    type === 'none' || address === undefined ? undefined : { ...address, ...credentials },
);

export const tlsSection = section('TLS of every listener.', {
  isFilled: true,
  isEmptyAllowed: true,
  isExtra: true,
})({
  handshakeTimeout: duration('Time limit for a handshake on any listener.', {
    default: 5_000,
    as: 'handshakeTimeoutMs',
    least: 1,
    beyond: 'default',
    isZeroAllowed: true,
  }),
});

export const connectEventsSection = section('Reports of SDK clients that connect or disconnect.', {
  isFilled: true,
  isLenient: true,
  isEmptyAllowed: true,
  isExtra: true,
})({
  enabled: flag('Whether controllers are notified of connected clients.', { default: true, as: 'isEnabled' }),
  batchInterval: duration('Interval of reports.', {
    default: 3_000,
    as: 'batchIntervalMs',
    least: 250,
    most: 600_000,
    beyond: 'clamp',
  }),
  fullSyncInterval: duration('Interval of complete reports.', {
    default: 300_000,
    as: 'fullSyncIntervalMs',
    least: 1_000,
    most: 86_400_000,
    beyond: 'clamp',
  }),
  maxQueuedEvents: integer('Events that are kept for a disconnected controller.', {
    default: 100_000,
    least: 0,
    most: 10_000_000,
    beyond: 'clamp',
  }),
});

export const interfaceDiscoverySection = section('Reports of this machine’s network interfaces.', {
  isFilled: true,
  isEmptyAllowed: true,
  isExtra: true,
})({
  disabled: flag('Does not report this machine’s networks to controllers.', {
    default: false,
    as: 'isDisabled',
  }),
  checkInterval: duration('Interval of reading them.', {
    default: 60_000,
    as: 'checkIntervalMs',
    least: 1,
    beyond: 'default',
  }),
  minReportInterval: duration('Interval after which unchanged interfaces are reported again.', {
    default: 86_400_000,
    as: 'minReportIntervalMs',
    least: 1,
    beyond: 'default',
  }),
});

export const managedConfigSection = unsupported(
  section('Configuration by controllers.', { isEmptyAllowed: true, isExtra: true })({
    'allow?': list(
      'Kinds of configuration that controllers may set.',
      text('A kind of configuration.', 'any-text'),
    ),
  }),
);
