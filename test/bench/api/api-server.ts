/**
 * What the API's benchmark measures: the real `frontdoor control` as a process on an embedded or PostgreSQL database
 * that was filled before it was started, and the bare Fastify beside it.
 */
import type { FirstStart } from '#control';
import type { BenchRun, Target } from '../bench-run.ts';
import { callApi } from '../product.ts';
import { startBenchControl } from './bench-control.ts';
import { fillProviders } from './filled-database.ts';

/** The server that all others are compared with. */
export const HELLO = 'bare Fastify';

/** The product's own limits are not what is measured here. */
const NO_LIMITS = ['--limit-writes', '1000000/1000000', '--limit-credentials', '1000000/1000000'];
/** Providers of the first and of the second frontdoor. */
const FULL_PROVIDERS = [10_000, 100_000] as const;
const QUICK_PROVIDERS = [10_000, 20_000] as const;

export interface ApiServer extends Target {
  readonly url: string;
  readonly credentials: FirstStart;
  /** Authorization of a bearer token with read and write. */
  readonly bearer: string;
  /** A second frontdoor, with the larger number of providers. */
  readonly largeFrontdoorId: string;
}

/**
 * Starts it once for its first credentials, fills its database while it is stopped, starts it again. `database` is a PostgreSQL
 * URL; undefined: the embedded database. It ends with the run.
 */
export async function startApiServer(
  run: BenchRun,
  name: string,
  database: string | undefined,
): Promise<ApiServer> {
  run.report(`filling and starting: ${name}`);
  const { dataDir, credentials, largeFrontdoorId } = await run.part(async () => {
    const first = await startBenchControl(run, name, database, NO_LIMITS);
    const { organizationId } = first.credentials;
    const { id } = await callApi(first, 'POST', '/frontdoor', { name: 'large', organizationId });
    return { ...first, largeFrontdoorId: String(id) };
  });
  const [few, many] = run.options.isQuick ? QUICK_PROVIDERS : FULL_PROVIDERS;
  await fillProviders(dataDir, database, [
    { frontdoorId: credentials.frontdoorId, count: few },
    { frontdoorId: largeFrontdoorId, count: many },
  ]);
  const { apiUrl: url, pid } = await startBenchControl(run, name, database, NO_LIMITS);
  const token = await callApi({ apiUrl: url }, 'POST', '/oauth/token', tokenRequest(url, credentials));
  return {
    name,
    url,
    processes: new Map([['control', pid]]),
    credentials,
    bearer: `Bearer ${String(token['access_token'])}`,
    largeFrontdoorId,
  };
}

export function tokenRequest(apiUrl: string, { clientId, clientSecret }: FirstStart): object {
  return {
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    audience: `${apiUrl}/frontdoor`,
  };
}
