/** `transport`, and sections about connections that OpenZiti has in addition to the requirement's. */
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
                        text({ about: 'Path of the output.', kind: 'any-text', example: 'westworld3' }),
                      ),
                      snapshot_ms: optional(
                        integer({ about: 'Interval of snapshots in milliseconds.', example: 1_000 }),
                      ),
                      enabled: optional(flag({ about: 'Whether it is enabled.' })),
                    },
                    { about: 'The measured resource.' },
                  ),
                ),
              },
              {
                about: 'An underlay that OpenZiti removed, and that this router does not have.',
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
                pongTimeout: seconds('Time limit for the response to a ping.'),
                pingInterval: seconds('Interval of pings.'),
                handshakeTimeout: seconds('Time limit for the upgrade.'),
                readBufferSize: count('Bytes.'),
                writeBufferSize: count('Bytes.'),
                enableCompression: optional(flag({ about: 'Whether messages are compressed.' })),
                identity: legacy('Certificates of the websockets.'),
              },
              { about: 'Websockets.', isExtra: true },
            ),
          ),
        ),
        ws: legacy('Only in generated files.'),
        proxy: legacy('Set by OpenZiti from the section of that name.'),
        handshakeTimeout: unsupported(
          optional(duration({ about: 'Time limit for handshakes of datagram TLS.', isExtra: true })),
        ),
      },
      { about: 'Tuning of underlays.', isEmptyAllowed: true, isCommented: true },
    ),
  ),
);

export const proxySection = section(
  {
    type: oneOf(['none', 'http'], {
      about: 'http: connections go through a proxy with CONNECT.',
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
    username: optional(
      text({ about: 'The user name for the proxy.', kind: 'any-text', isCommented: true, example: 'router' }),
    ),
    password: optional(
      text({
        about: 'The password for the proxy.',
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
      about: 'Time limit for a handshake on any listener.',
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
    enabled: flag({
      about: 'Whether controllers are notified of connected clients.',
      default: true,
      as: 'isEnabled',
    }),
    batchInterval: duration({
      about: 'Interval of reports.',
      default: 3_000,
      as: 'batchIntervalMs',
      least: 250,
      most: 600_000,
      beyond: 'clamp',
    }),
    fullSyncInterval: duration({
      about: 'Interval of complete reports.',
      default: 300_000,
      as: 'fullSyncIntervalMs',
      least: 1_000,
      most: 86_400_000,
      beyond: 'clamp',
    }),
    maxQueuedEvents: integer({
      about: 'Events that are kept for a disconnected controller.',
      default: 100_000,
      least: 0,
      most: 10_000_000,
      beyond: 'clamp',
    }),
  },
  {
    about: 'Reports of SDK clients that connect or disconnect.',
    isFilled: true,
    isLenient: true,
    isEmptyAllowed: true,
    isExtra: true,
  },
);

export const interfaceDiscoverySection = section(
  {
    disabled: flag({
      about: 'Does not report this machine’s networks to controllers.',
      default: false,
      as: 'isDisabled',
    }),
    checkInterval: duration({
      about: 'Interval of reading them.',
      default: 60_000,
      as: 'checkIntervalMs',
      least: 1,
      beyond: 'default',
    }),
    minReportInterval: duration({
      about: 'Interval after which unchanged interfaces are reported again.',
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
            about: 'Kinds of configuration that controllers may set.',
          }),
        ),
      },
      { about: 'Configuration by controllers.', isEmptyAllowed: true, isExtra: true },
    ),
  ),
);
