/** `transport`, and the sections about connections that OpenZiti has beside the requirement's. */
import {
  duration,
  flag,
  integer,
  legacy,
  list,
  oneOf,
  optional,
  section,
  text,
  unread,
  unsupported,
} from '../schema-field.ts';

const count = (about: string) => optional(integer({ about }));
const seconds = (about: string) => optional(integer({ about: `Seconds. ${about}` }));

export const transportSection = unread(
  optional(
    section(
      {
        westworld3: unsupported(
          optional(
            section(
              {
                profile_version: optional(integer({ about: 'Version of the profile.', example: 1 })),
                tx_portal_min_sz: optional(integer({ about: 'Smallest window.', example: 16_384 })),
                tx_portal_max_sz: optional(integer({ about: 'Largest window.', example: 4_194_304 })),
                instrument: optional(
                  section(
                    {
                      name: optional(text({ about: 'Name.', kind: 'any-text', example: 'metrics' })),
                      path: optional(
                        text({ about: 'Where it writes.', kind: 'any-text', example: 'westworld3' }),
                      ),
                      snapshot_ms: optional(
                        integer({ about: 'Milliseconds between two snapshots.', example: 1_000 }),
                      ),
                      enabled: optional(flag({ about: 'Whether it writes.' })),
                    },
                    { about: 'What it measures.' },
                  ),
                ),
              },
              {
                about: 'An underlay that OpenZiti has no more, and this router neither.',
                isCommented: true,
              },
            ),
          ),
        ),
        dtls: unsupported(
          optional(
            section(
              {
                writeBufferSize: count('Bytes.'),
                readBufferSize: count('Bytes.'),
                maxBytesPerSecond: count('Bytes.'),
              },
              { about: 'Datagram TLS.', isExtra: true },
            ),
          ),
        ),
        wss: unsupported(
          optional(
            section(
              {
                writeTimeout: seconds('Of a write.'),
                readTimeout: seconds('Of a read.'),
                idleTimeout: seconds('Without traffic.'),
                pongTimeout: seconds('Without an answer to a ping.'),
                pingInterval: seconds('Between two pings.'),
                handshakeTimeout: seconds('Of the upgrade.'),
                readBufferSize: count('Bytes.'),
                writeBufferSize: count('Bytes.'),
                enableCompression: optional(flag({ about: 'Whether messages are compressed.' })),
                identity: legacy('Certificates of the websockets.'),
              },
              { about: 'Websockets.', isExtra: true },
            ),
          ),
        ),
        ws: legacy('Generated files have it.'),
        proxy: legacy('OpenZiti fills it from the section of that name.'),
        handshakeTimeout: unsupported(optional(duration({ about: 'Of datagram TLS.', isExtra: true }))),
      },
      { about: 'Tuning of underlays.', isEmptyAllowed: true, isCommented: true },
    ),
  ),
);

export const proxySection = section(
  {
    type: oneOf(['none', 'http'], {
      about: 'http: connections go through a proxy by CONNECT.',
      default: 'none',
    }),
    address: optional(
      text({
        about: 'The proxy, <host>:<port>.',
        kind: 'host-port',
        isCommented: true,
        example: 'proxy.example:3128',
      }),
    ),
    username: optional(text({ about: 'Who asks.', kind: 'any-text', isCommented: true, example: 'router' })),
    password: optional(
      text({
        about: 'The password.',
        kind: 'any-text',
        isSecret: true,
        isCommented: true,
        example: 'secret',
      }),
    ),
  },
  {
    about: 'A proxy for control channels and links.',
    decode: ({ type, address, ...credentials }) =>
      type === 'none' || address === undefined ? undefined : { ...address, ...credentials },
    isFilled: true,
    isKindLenient: true,
    isEmptyAllowed: true,
    isExtra: true,
  },
);

export const tlsSection = section(
  {
    handshakeTimeout: duration({
      about: 'How long a handshake may take on any listener.',
      default: 5_000,
      as: 'handshakeTimeoutMs',
      least: 1,
      beyond: 'default',
      isZeroAllowed: true,
    }),
  },
  { about: 'TLS of every listener.', isFilled: true, isEmptyAllowed: true, isExtra: true },
);

export const connectEventsSection = section(
  {
    enabled: flag({ about: 'Whether controllers are told who connects.', default: true, as: 'isEnabled' }),
    batchInterval: duration({
      about: 'Between two reports.',
      default: 3_000,
      as: 'batchIntervalMs',
      least: 250,
      most: 600_000,
      beyond: 'clamp',
    }),
    fullSyncInterval: duration({
      about: 'Between two whole reports.',
      default: 300_000,
      as: 'fullSyncIntervalMs',
      least: 1_000,
      most: 86_400_000,
      beyond: 'clamp',
    }),
    maxQueuedEvents: integer({
      about: 'Events that are kept for a controller that is away.',
      default: 100_000,
      least: 0,
      most: 10_000_000,
      beyond: 'clamp',
    }),
  },
  {
    about: 'Reports of SDK clients that come and go.',
    isFilled: true,
    isLenient: true,
    isEmptyAllowed: true,
    isExtra: true,
  },
);

export const interfaceDiscoverySection = section(
  {
    disabled: flag({
      about: 'Tells controllers nothing of this machine’s networks.',
      default: false,
      as: 'isDisabled',
    }),
    checkInterval: duration({
      about: 'Between two looks at them.',
      default: 60_000,
      as: 'checkIntervalMs',
      least: 1,
      beyond: 'default',
    }),
    minReportInterval: duration({
      about: 'After which they are told again although nothing changed.',
      default: 86_400_000,
      as: 'minReportIntervalMs',
      least: 1,
      beyond: 'default',
    }),
  },
  {
    about: 'Reports of this machine’s network interfaces.',
    isFilled: true,
    isEmptyAllowed: true,
    isExtra: true,
  },
);

export const managedConfigSection = unsupported(
  optional(
    section(
      {
        allow: optional(
          list(text({ about: 'A kind of configuration.', kind: 'any-text' }), {
            about: 'What controllers may configure.',
          }),
        ),
      },
      { about: 'Configuration by controllers.', isEmptyAllowed: true, isExtra: true },
    ),
  ),
);
