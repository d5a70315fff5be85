/** `web`: HTTPS servers of the router. The only API is that of the health checks. */
import { duration, list, oneOf, section, text, withPath } from '../schema-field.ts';
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

const bindPoint = section('One listen address.')(
  {
    interface: text('Listen address, <host>:<port>.', 'host-port', { example: '127.0.0.1:8443' }),
    address: text('Address for clients, <host>:<port>.', 'host-port', {
      decode: asWritten,
      example: 'router.example:8443',
    }),
    'newAddress?': text('New address for clients, included in every response.', 'host-port', {
      decode: asWritten,
      isCommented: true,
      example: 'router.example:8444',
    }),
  },
  ({ interface: at, ...fields }, { path }) => ({ path, ...at, ...fields }),
);

const wait = <Name extends string>(as: Name, about: string, ms: number) =>
  duration(about, { as, default: ms, least: 1e-6 });

export const webServer = section('One HTTPS server.')(
  {
    name: text('Name of the server in log messages.', 'text', { example: 'health' }),
    bindPoints: list('Listen addresses.', bindPoint, { minItems: 1 }),
    'identity?': webIdentitySection,
    options: section('Limits of this server.', { isFilled: true })({
      readTimeout: wait('readTimeoutMs', 'Time limit for receiving a request.', 5_000),
      writeTimeout: wait('writeTimeoutMs', 'Time limit for sending a response.', 10_000),
      idleTimeout: wait('idleTimeoutMs', 'Time limit for a connection without a request.', 5_000),
      minTLSVersion: oneOf('Minimum version of TLS.', TLS_VERSION_NAMES, {
        default: 'TLS1.2',
        as: 'minTlsVersion',
        decode: tlsVersion,
      }),
      maxTLSVersion: oneOf('Maximum version of TLS.', TLS_VERSION_NAMES, {
        default: 'TLS1.3',
        as: 'maxTlsVersion',
        decode: tlsVersion,
      }),
    }),
    apis: list(
      'The APIs that it serves.',
      section('One API.')(
        {
          binding: oneOf('The API.', ['health-checks'], { example: 'health-checks' }),
          'options?': section('Options of the API; health-checks has none.', { isCommented: true })({}),
        },
        ({ binding }): string => binding,
      ),
      { minItems: 1 },
    ),
  },
  withPath,
);

export const webSection = list(
  'HTTPS servers; without this section health checks are not served.',
  webServer,
  { isEmptyAllowed: true },
);
