/** `web`: HTTPS servers of the router; the health checks are the one API that there is. */
import { WEB_OPTION_DEFAULTS } from '../router-default-table.ts';
import { duration, list, oneOf, optional, section, text } from '../schema-field.ts';
import { webIdentitySection } from './identity-schema.ts';

export const TLS_VERSION_NAMES = ['TLS1.0', 'TLS1.1', 'TLS1.2', 'TLS1.3'] as const;

const bindPoint = section(
  {
    interface: text({
      about: 'Where to listen, <host>:<port>.',
      kind: 'host-port',
      example: '127.0.0.1:8443',
    }),
    address: text({
      about: 'How others reach it, <host>:<port>.',
      kind: 'host-port',
      example: 'router.example:8443',
    }),
    newAddress: optional(
      text({
        about: 'Where clients should go from now on; told in every answer.',
        kind: 'host-port',
        isCommented: true,
        example: 'router.example:8444',
      }),
    ),
  },
  { about: 'One place to listen.' },
);

const wait = (about: string, ms: number) => duration({ about, default: ms, least: 1e-6 });

const server = section(
  {
    name: text({ about: 'For logs.', kind: 'text', example: 'health' }),
    bindPoints: list(bindPoint, { about: 'Where it listens.', minItems: 1 }),
    identity: optional(webIdentitySection),
    options: section(
      {
        readTimeout: wait('How long a request may take to come.', WEB_OPTION_DEFAULTS.readTimeoutMs),
        writeTimeout: wait('How long an answer may take to go.', WEB_OPTION_DEFAULTS.writeTimeoutMs),
        idleTimeout: wait(
          'How long a connection may be kept without a request.',
          WEB_OPTION_DEFAULTS.idleTimeoutMs,
        ),
        minTLSVersion: oneOf(TLS_VERSION_NAMES, { about: 'Lowest version of TLS.', default: 'TLS1.2' }),
        maxTLSVersion: oneOf(TLS_VERSION_NAMES, { about: 'Highest version of TLS.', default: 'TLS1.3' }),
      },
      { about: 'Limits of this server.', isFilled: true },
    ),
    apis: list(
      section(
        {
          binding: oneOf(['health-checks'], { about: 'The API.', example: 'health-checks' }),
          options: optional(section({}, { about: 'It has none.', isCommented: true })),
        },
        { about: 'One API.' },
      ),
      { about: 'What it serves.', minItems: 1 },
    ),
  },
  { about: 'One HTTPS server.' },
);

export const webSection = list(server, {
  about: 'HTTPS servers; without this section health checks are served nowhere.',
  isEmptyAllowed: true,
});
