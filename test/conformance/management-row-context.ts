/**
 * A running product for the rows, with a real agent, and what their `{…}` stand for: each is made when it is first
 * asked for. What a row deletes is made for that row alone.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { JsonClient, type JsonAnswer } from '#net/http';
import { until } from '../support/deadline.ts';
import { startPrivateService } from '../support/private-service.ts';
import { openWorld, type World } from '../support/world.ts';
import type { ManagementRow } from './management-row.ts';
import { oidcData } from './management-row-table.ts';
import { openRowLogins, type LoggedIn, type RowLogins } from './row-logins.ts';

export interface ManagementRowContext {
  readonly world: World;
  /** The value with every `{…}` in it replaced. */
  filled<T>(value: T): Promise<T>;
  /** The row's path; parameters that are given here stand for the row's own. */
  pathOf(row: ManagementRow, parameters?: Readonly<Record<string, string>>): Promise<string>;
  /** A call with the first account's credentials, unless others (or none) are given. */
  call(row: ManagementRow, options?: RowCall): Promise<JsonAnswer>;
  close(): Promise<void>;
}

export interface RowCall {
  readonly parameters?: Readonly<Record<string, string>>;
  /** Instead of the row's query. */
  readonly query?: string;
  /** Instead of the row's body; a text is sent as it is. */
  readonly body?: unknown;
  /** The content type; `application/json` when absent. */
  readonly contentType?: string;
  /** The authorization header; null sends none. */
  readonly authorization?: string | null;
}

export async function openRowContext(
  options: Parameters<typeof openWorld>[0] = {},
): Promise<ManagementRowContext> {
  const logins = await openRowLogins();
  const world = await openWorld({ ...logins.options, ...options });
  const service = await startPrivateService();
  const agent = await world.startAgent('host');
  await agent.share(`http://127.0.0.1:${service.port}`, { name: 'by-agent' });
  const { credentials, up } = world;
  const client = new JsonClient({ origin: up.control.apiUrl });

  const made = new Map<string, Promise<string>>();
  const makers = makersOf(world, client, agent.environmentId, logins);
  const valueOf = (name: string): Promise<string> => {
    const make = makers[name];
    assert.ok(make !== undefined, `nothing stands for {${name}}`);
    const value = made.get(name) ?? make();
    made.set(name, value);
    return value;
  };

  const filledText = async (text: string): Promise<string> => {
    let result = text;
    for (const [whole, name = ''] of text.matchAll(/\{(\w+)\}/g)) {
      result = result.replace(whole, await valueOf(name));
    }
    return result;
  };
  const filled = async (value: unknown): Promise<unknown> => {
    if (typeof value === 'string') return filledText(value);
    if (Array.isArray(value)) return Promise.all(value.map(filled));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(async ([name, inner]) => [name, await filled(inner)] as const);
    return Object.fromEntries(await Promise.all(entries));
  };
  const pathOf: ManagementRowContext['pathOf'] = (row, parameters = {}) => {
    const values = { ...row.at, ...parameters };
    return filledText(row.path.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole));
  };

  return {
    world,
    filled: (value) => filled(value) as Promise<typeof value>,
    pathOf,
    async call(row, { parameters, query = row.query, body, contentType, authorization } = {}) {
      const own = `Basic ${credentials.accountId}:${credentials.apiToken}`;
      const credential = authorization === undefined && row.isOpen === undefined ? own : authorization;
      const path = await pathOf(row, parameters);
      const sent = body ?? (row.body === undefined ? undefined : goodBody(row.body));
      return client.request({
        method: row.method,
        path: query === undefined || query === '' ? path : `${path}?${await filledText(query)}`,
        headers: {
          ...(typeof credential === 'string' ? { authorization: credential } : {}),
          ...(sent === undefined ? {} : { 'content-type': contentType ?? 'application/json' }),
        },
        ...(sent === undefined ? {} : { body: await filled(sent) }),
      });
    },
    async close() {
      await client.close();
      await world.close();
      await service.close();
      await logins.close();
    },
  };
}

/** A valid body of the row. */
export function goodBody(fields: NonNullable<ManagementRow['body']>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, value]));
}

const INSPECTED = 'inspected-by-row';

function makersOf(
  world: World,
  client: JsonClient,
  environmentId: string,
  logins: RowLogins,
): Readonly<Record<string, () => Promise<string>>> {
  const { credentials, up } = world;
  const authorization = `Basic ${credentials.accountId}:${credentials.apiToken}`;
  const create = async (path: string, body: unknown): Promise<Record<string, string>> => {
    const answer = await client.request({ method: 'POST', path, headers: { authorization }, body });
    assert.equal(answer.status, 201, `${path}: ${answer.text}`);
    return answer.json as Record<string, string>;
  };
  const base = `/frontdoor/${credentials.frontdoorId}`;
  const provider = async (): Promise<string> =>
    (await create(`${base}/auth-providers`, { name: 'Staff', type: 'OIDC', data: oidcData }))['id']!;
  const share = async (name: string): Promise<string> => {
    const target = 'http://127.0.0.1:9';
    const body = { name, environmentId, shareMode: 'public', backendMode: 'proxy', target };
    return (await create(`${base}/shares`, body))['token']!;
  };
  const enrollmentId = async (): Promise<string> => {
    const path = `${base}/agents/enrollments`;
    await create(path, { name: 'canceled-by-row' });
    const answer = await client.request({
      method: 'GET',
      path: `${path}?size=1`,
      headers: { authorization },
    });
    return (answer.json as { content: { id: string }[] }).content[0]!.id;
  };
  const frontendId = async (): Promise<string> => {
    const { json, text } = await client.request({
      method: 'GET',
      path: `${base}/frontends`,
      headers: { authorization },
    });
    assert.ok(Array.isArray(json), text);
    return (json as { id: string }[])[0]!.id;
  };
  let inspectedShareMade: Promise<string> | undefined;
  const inspectedShare = (): Promise<string> => (inspectedShareMade ??= share(INSPECTED));
  /** A recorded request that failed, because nothing answers at the target. */
  const inspectedRequest = async (): Promise<string> => {
    await inspectedShare();
    const path = `${base}/shares/${INSPECTED}/inspector`;
    const body = { enabled: true };
    const on = await client.request({ method: 'PUT', path, headers: { authorization }, body });
    assert.equal(on.status, 200, on.text);
    const isKnown = async (id: string): Promise<boolean> => {
      const asked = `${path}/requests/${id}`;
      return (
        (await client.request({ method: 'GET', path: asked, headers: { authorization } })).status === 200
      );
    };
    const headers = { host: `${INSPECTED}.share.localhost` };
    const gateway = new JsonClient({ origin: `http://127.0.0.1:${up.httpPort}` });
    try {
      // The gateway receives the share a moment later.
      const { value } = await until(
        'a recorded request',
        async () => {
          const { headers: answered } = await gateway.request({ method: 'GET', path: '/', headers });
          const id = String(answered['frontdoor-error-id']);
          const recorded = await until('its record', () => isKnown(id), Boolean, 3_000).catch(
            () => undefined,
          );
          return recorded === undefined ? undefined : id;
        },
        (id) => id !== undefined,
      );
      return value!;
    } finally {
      await gateway.close();
    }
  };
  /** The log entry of the inspected request; gateways report it about a second later. */
  const loggedRequest = async (): Promise<string> => {
    const id = await inspectedRequest();
    const asked = { method: 'GET', path: `${base}/requests/${id}`, headers: { authorization } } as const;
    await until(
      'the entry of the log',
      async () => (await client.request(asked)).status,
      (status) => status === 200,
    );
    return id;
  };
  /** A duration in which a share has requests, as the metrics know a moment later. */
  const busyDuration = async (): Promise<string> => {
    await inspectedRequest();
    const path = `${base}/shares/${INSPECTED}/metrics?duration=PT1H`;
    await until(
      'requests in the metrics',
      async () => (await client.request({ method: 'GET', path, headers: { authorization } })).json,
      (json) => (json as { totals: { requests: number } }).totals.requests > 0,
    );
    return 'PT1H';
  };
  const policy = async (name: string): Promise<string> =>
    (await create(`${base}/policies`, { name, ipDeny: ['198.51.100.0/24'] }))['id']!;
  /** The policy of the share that has a recorded request. */
  const usedPolicy = async (): Promise<string> => {
    await inspectedRequest();
    const policyId = await policy('used-by-row');
    const path = `${base}/shares/${INSPECTED}`;
    const used = await client.request({
      method: 'PATCH',
      path,
      headers: { authorization },
      body: { policyId },
    });
    assert.equal(used.status, 200, used.text);
    return policyId;
  };
  const customFrontend = async (hostname: string): Promise<string> =>
    (await create(`${base}/custom-frontends`, { hostname, frontendId: await frontendId() }))['id']!;
  const loggedIn = new Map<string, Promise<LoggedIn>>();
  const logIn = (share: string): Promise<LoggedIn> => {
    const made = loggedIn.get(share) ?? logins.logIn(world, environmentId, share);
    loggedIn.set(share, made);
    return made;
  };
  const node = async (kind: string): Promise<string> =>
    (await create(`/fabric/${kind}s`, { name: 'by row' }))['id']!;
  const service = async (name: string): Promise<string> =>
    (await create('/fabric/services', { name }))['id']!;
  const terminator = async (): Promise<string> => {
    const [serviceId, routerId] = [await service(randomUUID()), await node('router')];
    return (await create('/fabric/terminators', { serviceId, routerId, address: 'tcp:127.0.0.1:9' }))['id']!;
  };
  return {
    baseUrl: async () => up.control.apiUrl,
    organizationId: async () => credentials.organizationId,
    frontdoorId: async () => credentials.frontdoorId,
    clientId: async () => credentials.clientId,
    clientSecret: async () => credentials.clientSecret,
    doomedFrontdoorId: async () =>
      (await create('/frontdoor', { name: 'Doomed', organizationId: credentials.organizationId }))['id']!,
    environmentId: async () => environmentId,
    doomedEnvironmentId: async () => (await world.enrollEnvironment('doomed')).id,
    doomedAgentId: async () => (await world.enrollEnvironment('doomed agent')).id,
    providerId: provider,
    changedProviderId: provider,
    doomedProviderId: provider,
    sessionProviderId: async () => (await logIn('sessions-by-row')).providerId,
    endedSessionProviderId: async () => (await logIn('ended-by-row')).providerId,
    endedSessionId: async () => (await logIn('ended-by-row')).sessionId,
    enrollmentCode: () => world.enrollmentCode(),
    enrollmentId,
    shareToken: () => share('read-by-row'),
    doomedShareToken: () => share('doomed-by-row'),
    policyShareToken: () => share('policy-by-row'),
    policyId: () => policy('read-by-row'),
    changedPolicyId: () => policy('changed-by-row'),
    doomedPolicyId: () => policy('doomed-by-row'),
    usedPolicyId: usedPolicy,
    inspectedShareToken: inspectedShare,
    doomedInspectedShareToken: () => share('doomed-inspected-by-row'),
    inspectedRequestId: () => inspectedRequest(),
    loggedRequestId: () => loggedRequest(),
    busyDuration,
    frontendId,
    customFrontendId: () => customFrontend('read.example.com'),
    doomedCustomFrontendId: () => customFrontend('doomed.example.com'),
    routerId: () => node('router'),
    doomedRouterId: () => node('router'),
    doomedGatewayId: () => node('gateway'),
    serviceId: () => service('read by row'),
    changedServiceId: () => service('changed by row'),
    doomedServiceId: () => service('doomed by row'),
    terminatorId: terminator,
    doomedTerminatorId: terminator,
  };
}
