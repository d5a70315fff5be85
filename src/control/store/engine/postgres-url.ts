/**
 * Parses the URL of a PostgreSQL database strictly: every parameter is honoured or refused. Connections to other
 * machines are encrypted and the server's certificate is verified, unless the URL has another mode. Messages
 * never contain its password.
 */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { definedFields, FrontdoorError, isLoopbackHost, messageOf } from '#base';

export interface PostgresTarget {
  /** A host name, an address, or the directory of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** '' if the URL has none. */
  readonly password: string;
  readonly database: string;
  readonly ssl: ConnectionOptions | false;
  /** `host:port/database`, for messages. */
  readonly label: string;
}

const FORM = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full';
const PARAMETERS = ['host', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'];
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'];

/** Throws `invalid` with the problem, but never with the URL itself. */
export function parsePostgresUrl(text: string): PostgresTarget {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['postgres:', 'postgresql:'].includes(url.protocol)) {
    throw wrong(`is not of the form ${FORM}`);
  }
  const parameters = parametersOf(url);
  const host = parameters['host'] ?? decoded(url.hostname.replace(/^\[(.+)\]$/, '$1'));
  const user = decoded(url.username);
  const database = decoded(url.pathname.slice(1));
  if (host === '' || host.includes(',')) throw wrong('must name one host');
  if (user === '') throw wrong('must name a user');
  if (database === '') throw wrong('must name a database');
  const port = url.port === '' ? 5432 : Number(url.port);
  return {
    host,
    port,
    user,
    password: decoded(url.password),
    database,
    ssl: sslOf(host, parameters),
    label: `${host.includes(':') ? `[${host}]` : host}:${port}/${database}`,
  };
}

type Parameters = Readonly<Record<string, string | undefined>>;

function parametersOf(url: URL): Parameters {
  const parameters: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of url.searchParams) {
    if (!PARAMETERS.includes(name))
      throw wrong(`may have the parameters ${PARAMETERS.join(', ')}: not ${name}`);
    if (name in parameters) throw wrong(`gives ${name} twice`);
    parameters[name] = value;
  }
  return parameters;
}

function sslOf(
  host: string,
  { sslmode, sslrootcert, sslcert, sslkey }: Parameters,
): ConnectionOptions | false {
  const isLocal = host.startsWith('/') || isLoopbackHost(host);
  const mode = sslmode ?? (isLocal ? 'disable' : 'verify-full');
  if (!SSL_MODES.includes(mode)) throw wrong(`may have an sslmode of ${SSL_MODES.join(', ')}`);
  if (mode === 'disable') {
    if (sslrootcert ?? sslcert ?? sslkey)
      throw wrong('names certificates: it needs an sslmode that uses them');
    return false;
  }
  if ((sslcert === undefined) !== (sslkey === undefined)) throw wrong('needs sslcert and sslkey together');
  if (mode === 'verify-ca' && sslrootcert === undefined)
    throw wrong('needs sslrootcert with sslmode=verify-ca');
  return definedFields({
    minVersion: 'TLSv1.2',
    ca: fileOf('sslrootcert', sslrootcert),
    cert: fileOf('sslcert', sslcert),
    key: fileOf('sslkey', sslkey),
    // As in libpq: `require` alone verifies nothing; with an authority it verifies the chain but not the
    // name.
    rejectUnauthorized: mode === 'require' && sslrootcert === undefined ? false : undefined,
    checkServerIdentity: mode === 'verify-full' ? undefined : () => undefined,
  });
}

function fileOf(parameter: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw wrong(`names a file in ${parameter} that cannot be read: ${messageOf(error)}`);
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong('has a % that starts no encoded character: write % as %25');
  }
}

function wrong(what: string): FrontdoorError {
  return new FrontdoorError('invalid', 'database-url', `the database URL ${what}`);
}
