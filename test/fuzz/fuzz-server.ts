/**
 * A real control plane for fuzzing, on loopback: limits so high that none is met, one enrolled environment, and ids of
 * things that exist, so that requests get past the first checks.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log, LogFields } from '#base';
import { startControlPlane, type FirstStart } from '#control';
import { enrollIdentity } from '#sdk';

export interface FuzzServer {
  /** {base_url}. */
  readonly url: string;
  readonly first: FirstStart;
  readonly authorization: string;
  /** By the name of a path's parameter and by its resource: something that exists. */
  readonly known: Readonly<Record<string, string>>;
  /** Log lines of level error, which are failures of Frontdoor; a reader removes them from the list. */
  readonly errors: string[];
  send(request: FuzzRequest): Promise<FuzzAnswer>;
  close(): Promise<void>;
}

export interface FuzzRequest {
  readonly method: string;
  /** The request line's path, as sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface FuzzAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

const NO_LIMIT = { perSecond: 1_000_000, burst: 1_000_000 };
const REQUEST_TIMEOUT_MS = 20_000;
const MAX_ANSWER_CHARS = 4 << 20;

export async function startFuzzServer(): Promise<FuzzServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'frontdoor-fuzz-'));
  const errors: string[] = [];
  const control = await startControlPlane({
    dataDir,
    listenHost: '127.0.0.1',
    advertiseHost: 'localhost',
    apiPort: 0,
    edgeApiPort: 0,
    ctrlPort: 0,
    zone: 'share.localhost',
    frontendUrls: (host) => [`http://${host}:8080`],
    limits: { credentials: NO_LIMIT, writes: NO_LIMIT },
    log: errorLog(errors),
  });
  const first = control.firstStart!;
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const authorization = `Basic ${first.accountId}:${first.apiToken}`;
  const send: FuzzServer['send'] = (request) => exchange(control.apiUrl, agent, request);
  const known = await makeKnown(send, authorization, first);
  return {
    url: control.apiUrl,
    first,
    authorization,
    known,
    errors,
    send,
    close: async () => {
      agent.destroy();
      await control.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function makeKnown(
  send: FuzzServer['send'],
  authorization: string,
  first: FirstStart,
): Promise<Record<string, string>> {
  const make = async (method: string, target: string, body?: unknown): Promise<Record<string, string>> => {
    const headers = { authorization, 'content-type': 'application/json' };
    const answer = await send({
      method,
      target,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (answer.status >= 300) throw new Error(`${method} ${target}: ${answer.status} ${answer.text}`);
    return JSON.parse(answer.text) as Record<string, string>;
  };
  const { organizationId, frontdoorId } = first;
  const frontdoor = `/frontdoor/${frontdoorId}`;
  const { enrollmentCode } = await make('POST', `${frontdoor}/agents/enrollments`);
  const { token: jwt } = await make('GET', `/frontdoor/agents/bootstrap-token/${enrollmentCode!}`);
  const { id: environmentId } = await enrollIdentity({ jwt: jwt!, name: 'fuzzed' });
  const share = {
    name: 'fuzzed',
    environmentId,
    shareMode: 'public',
    backendMode: 'proxy',
    target: 'http://localhost:1',
  };
  const { token } = await make('POST', `${frontdoor}/shares`, share);
  const data = { issuer: 'https://idp.example.com', client_id: 'fuzzed' };
  const provider = await make('POST', `${frontdoor}/auth-providers`, { name: 'fuzzed', type: 'OIDC', data });
  const caller = { name: 'fuzzed', organizationId };
  const [frontend] = (await make('GET', `${frontdoor}/frontends`)) as unknown as { id: string }[];
  const custom = { hostname: 'fuzzed.example.com', frontendId: frontend!.id };
  const customFrontend = await make('POST', `${frontdoor}/custom-frontends`, custom);
  return {
    organizationId,
    frontdoorId,
    environmentId,
    agentId: environmentId,
    token: token!,
    frontendId: frontend!.id,
    customFrontendId: customFrontend['id']!,
    type: 'OIDC',
    'auth-providers': provider['id']!,
    'api-accounts': (await make('POST', '/api-accounts', caller))['id']!,
    'oauth-clients': (await make('POST', '/oauth-clients', caller))['id']!,
    environments: environmentId,
    routers: (await make('POST', '/fabric/routers', { name: 'fuzzed' }))['id']!,
    gateways: (await make('POST', '/fabric/gateways', { name: 'fuzzed' }))['id']!,
  };
}

function exchange(
  url: string,
  agent: Agent,
  { method, target, headers, body }: FuzzRequest,
): Promise<FuzzAnswer> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<FuzzAnswer>();
  const bytes = body === undefined ? undefined : Buffer.from(body, 'utf8');
  const request = httpRequest(
    {
      agent,
      hostname,
      port,
      method,
      path: target,
      headers: { ...headers, ...(bytes === undefined ? {} : { 'content-length': bytes.length }) },
      timeout: REQUEST_TIMEOUT_MS,
    },
    (response) => {
      const contentType = response.headers['content-type'] ?? '';
      const answer = (text: string): void => resolve({ status: response.statusCode ?? 0, contentType, text });
      if (contentType.startsWith('text/event-stream')) {
        answer('');
        request.destroy();
        return;
      }
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        if (text.length < MAX_ANSWER_CHARS) text += part;
      });
      response.on('end', () => answer(text));
      response.on('error', reject);
    },
  );
  request.on('timeout', () => request.destroy(new Error(`no answer to ${method} ${target.slice(0, 200)}`)));
  request.on('error', reject);
  request.end(bytes);
  return promise;
}

function errorLog(errors: string[]): Log {
  const ignore = (): void => {};
  const log: Log = {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (fields: LogFields, message: string) => void errors.push(`${message} ${JSON.stringify(fields)}`),
    child: () => log,
  };
  return log;
}
