/** `web`: HTTPS servers of the router. The only API is that of the health checks. */
import { duration, list, oneOf, optional, section, text, withPath } from '../schema-field.ts';
import { webIdentitySection } from './identity-schema.ts';

/** From the oldest to the newest version, with Node's name of each. */
const TLS_VERSIONS = {
  'TLS1.0': 'TLSv1',
  'TLS1.1': 'TLSv1.1',
  'TLS1.2': 'TLSv1.2',
  'TLS1.3': 'TLSv1.3',
} as const;
type TlsVersionName = keyof typeof TLS_VERSIONS;
export const TLS_VERSION_NAMES = Object.keys(TLS_VERSIONS) as readonly TlsVersionName[];

const tlsVersion = (name: TlsVersionName) => TLS_VERSIONS[name];
const asWritten = (hostPort: string): string => hostPort;

const bindPoint = section(
  {
    interface: text({
      about: 'Listen address, <host>:<port>.',
      kind: 'host-port',
      example: '127.0.0.1:8443',
    }),
    address: text({
      about: 'Address for clients, <host>:<port>.',
      kind: 'host-port',
      decode: asWritten,
      example: 'router.example:8443',
    }),
    newAddress: optional(
      text({
        about: 'New address for clients, included in every response.',
        kind: 'host-port',
        decode: asWritten,
        isCommented: true,
        example: 'router.example:8444',
      }),
    ),
  },
  {
    about: 'One listen address.',
    decode: ({ interface: at, ...fields }, { path }) => ({ path, ...at, ...fields }),
  },
);

const wait = <Name extends string>(as: Name, about: string, ms: number) =>
  duration({ about, as, default: ms, least: 1e-6 });

export const webServer = section(
  {
    name: text({ about: 'Name of the server in log messages.', kind: 'text', example: 'health' }),
    bindPoints: list(bindPoint, { about: 'Listen addresses.', minItems: 1 }),
    identity: optional(webIdentitySection),
    options: section(
      {
        readTimeout: wait('readTimeoutMs', 'Time limit for receiving a request.', 5_000),
        writeTimeout: wait('writeTimeoutMs', 'Time limit for sending a response.', 10_000),
        idleTimeout: wait('idleTimeoutMs', 'Time limit for a connection without a request.', 5_000),
        minTLSVersion: oneOf(TLS_VERSION_NAMES, {
          about: 'Minimum version of TLS.',
          default: 'TLS1.2',
          as: 'minTlsVersion',
          decode: tlsVersion,
        }),
        maxTLSVersion: oneOf(TLS_VERSION_NAMES, {
          about: 'Maximum version of TLS.',
          default: 'TLS1.3',
          as: 'maxTlsVersion',
          decode: tlsVersion,
        }),
      },
      { about: 'Limits of this server.', isFilled: true },
    ),
    apis: list(
      section(
        {
          binding: oneOf(['health-checks'], { about: 'The API.', example: 'health-checks' }),
          options: optional(
            section({}, { about: 'Options of the API; health-checks has none.', isCommented: true }),
          ),
        },
        { about: 'One API.', decode: ({ binding }): string => binding },
      ),
      { about: 'The APIs that it serves.', minItems: 1 },
    ),
  },
  { about: 'One HTTPS server.', decode: withPath },
);

export const webSection = list(webServer, {
  about: 'HTTPS servers; without this section health checks are not served.',
  isEmptyAllowed: true,
});
