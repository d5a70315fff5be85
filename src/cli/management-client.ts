/**
 * Calls of the Management API for the command line: one request with an API account's credentials, refusals turned
 * into `FrontdoorError`s. Credentials travel over https only, but on loopback.
 */
import { FrontdoorError, type ErrorKind, ERROR_KINDS, isLoopbackHost } from '#base';
import { JsonClient } from '#net';

export interface ManagementAccess {
  /** {base_url}, without `/frontdoor`. */
  readonly apiUrl: string;
  readonly accountId: string;
  readonly apiToken: string;
  /** CA certificates (PEM) in place of the system's. */
  readonly ca?: string;
}

/** The answer's JSON; undefined for an empty one. */
export async function callManagement(
  access: ManagementAccess,
  request: { readonly method: 'GET' | 'POST' | 'DELETE'; readonly path: string; readonly body?: unknown },
): Promise<unknown> {
  const url = URL.parse(access.apiUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new FrontdoorError('invalid', 'api-url', `${access.apiUrl} is no http or https address`);
  }
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
    throw new FrontdoorError('invalid', 'api-url', `${url.origin} must be https: the API token is a secret`);
  }
  const client = new JsonClient({
    origin: url.origin,
    ...(access.ca === undefined ? {} : { ca: access.ca }),
  });
  try {
    const { status, json } = await client.request({
      ...request,
      path: `${url.pathname.replace(/\/$/, '')}${request.path}`,
      headers: { authorization: `Basic ${access.accountId}:${access.apiToken}` },
    });
    if (status >= 200 && status < 300) return json;
    const { error, message } = (json ?? {}) as { error?: unknown; message?: unknown };
    throw new FrontdoorError(
      kindOf(status),
      typeof error === 'string' ? error : 'refused',
      typeof message === 'string' ? message : `the Management API at ${url.origin} answered ${status}`,
    );
  } finally {
    await client.close();
  }
}

function kindOf(status: number): ErrorKind {
  const found = Object.entries(ERROR_KINDS).find(([, kind]) => kind.status === status);
  if (found !== undefined) return found[0] as ErrorKind;
  return status < 500 ? 'invalid' : 'internal';
}
