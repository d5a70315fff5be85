/** An organization of its own beside the battery's, with its frontdoor and an agent that is enrolled there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { callAgent } from '#cli';
import { AGENT_SOCKET_FILE, type AgentStatusResult } from '#domain/agent-shapes';
import { JsonClient, type JsonAnswer } from '#net/http';
import { PartProcess } from '../support/part-process.ts';
import type { BatteryProduct } from './battery-product.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface SecondTenant {
  readonly organizationId: string;
  readonly frontdoorId: string;
  readonly environmentId: string;
  readonly agentSocket: string;
  /** A Management API call with its account; `path` without `/frontdoor/{id}`. */
  call(method: Method, path: string, body?: object): Promise<JsonAnswer>;
  /** A call of the first account, which administers the installation; a whole path. */
  administer(method: Method, path: string, body?: object): Promise<JsonAnswer>;
  /** At the token endpoint, without other credentials than the body's. */
  issueToken(body: object): Promise<JsonAnswer>;
  stop(): Promise<void>;
}

/** `name`: unique among the tenants of a product. */
export async function startSecondTenant(product: BatteryProduct, name: string): Promise<SecondTenant> {
  const { folder, control } = product.parts;
  const first = control.ready as unknown as { apiUrl: string; accountId: string; apiToken: string };
  const ca = readFileSync(join(folder, 'api-ca.pem'), 'utf8');
  const client = new JsonClient({ origin: first.apiUrl, ca });
  const ask = (account: string, method: Method, path: string, body?: object): Promise<JsonAnswer> =>
    client.request({
      method,
      path,
      headers: { authorization: `Basic ${account}` },
      body,
    });
  const make = async (account: string, path: string, body: object): Promise<Record<string, string>> => {
    const answer = await ask(account, 'POST', path, body);
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.json as Record<string, string>;
  };
  try {
    const admin = `${first.accountId}:${first.apiToken}`;
    const organizationId = (await make(admin, '/organizations', { name }))['id']!;
    const made = await make(admin, '/api-accounts', { name, organizationId });
    const account = `${made['id']}:${made['token']}`;
    const frontdoorId = (await make(account, '/frontdoor', { name, organizationId }))['id']!;
    const root = `/frontdoor/${frontdoorId}`;
    const { enrollmentCode } = await make(account, `${root}/agents/enrollments`, {});
    const dataDir = join(folder, `agent-${name}`);
    const agentSocket = join(dataDir, AGENT_SOCKET_FILE);
    const agent = new PartProcess<AgentStatusResult>({
      name: `agent of ${name}`,
      probe: () => callAgent(agentSocket, { op: 'status' }, 1_000),
      args: () => [
        'agent',
        'start',
        '--data-dir',
        dataDir,
        '--api',
        first.apiUrl,
        '--ca',
        join(folder, 'api-ca.pem'),
        '--name',
        name,
        '--enrollment-token',
        enrollmentCode!,
      ],
    });
    await agent.start();
    const environments = (await ask(account, 'GET', `${root}/environments`)).json as {
      content: { id: string }[];
    };
    return {
      organizationId,
      frontdoorId,
      agentSocket,
      environmentId: environments.content[0]!.id,
      call: (method, path, body) => ask(account, method, root + path, body),
      administer: (method, path, body) => ask(admin, method, path, body),
      issueToken: (body) => client.request({ method: 'POST', path: '/oauth/token', body }),
      stop: async () => {
        await agent.stop();
        await client.close();
      },
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}
