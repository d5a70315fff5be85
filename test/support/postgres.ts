/**
 * PostgreSQL for tests. `npm test` runs one server for all files, which `postgres-host.ts` holds; a file that is run by
 * itself starts its own. Where PostgreSQL is not installed tests skip, naming it; under FRONTDOOR_TEST_STRICT=1 they fail.
 */
import { connect } from 'node:net';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { within } from './deadline.ts';
import { LocalPostgres, type PostgresOptions, type PostgresServer } from './local-postgres.ts';
import { POSTGRES_DEADLINE_MS, PostgresAccess } from './postgres-access.ts';
import { findPrograms } from './postgres-programs.ts';

export type { PostgresOptions, PostgresServer } from './local-postgres.ts';
export { POSTGRES_PASSWORD, type PostgresAccess } from './postgres-access.ts';

/** The environment variable that names the host's Unix socket. */
export const POSTGRES_HOST_VARIABLE = 'FRONTDOOR_TEST_POSTGRES';

const BIN = findPrograms();

/** For `skip` of tests that need PostgreSQL. */
export const postgresSkip: string | false =
  BIN === undefined && process.env['FRONTDOOR_TEST_STRICT'] !== '1' ? 'PostgreSQL is not installed' : false;

/** The answer of `postgres-host.ts`. */
export interface HostedPostgres {
  readonly folder: string;
  readonly port: number;
}

let shared: Promise<PostgresAccess> | undefined;

/** The server of this test run, or, without a run, of this process. Nobody stops it. */
export function sharedPostgres(): Promise<PostgresAccess> {
  const host = process.env[POSTGRES_HOST_VARIABLE];
  shared ??= host === undefined ? startPostgres() : hostedPostgres(host);
  return shared;
}

/** Starts a server of this process, which may be stopped and killed. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const server = new LocalPostgres(programs(), options);
  process.once('exit', () => server.destroy());
  await server.initialize();
  await server.start();
  return server;
}

async function hostedPostgres(host: string): Promise<PostgresAccess> {
  const answer = await within('the server of this run', text(connect(host)), POSTGRES_DEADLINE_MS);
  const { folder, port } = JSON.parse(answer) as HostedPostgres;
  return new PostgresAccess({ bin: programs(), folder }, () => port);
}

function programs(): string {
  if (BIN === undefined) throw new Error('PostgreSQL is not installed: no initdb and postgres were found');
  return BIN;
}
