/** Another organization of the same installation: its frontdoor, its account, and an agent of its own. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { callAgent } from '#cli';
import { AGENT_SOCKET_FILE, type AgentStatusResult } from '#domain/agent-shapes';
import { JsonClient } from '#net/http';
import { PartProcess } from './part-process.ts';
import type { Separate } from './separate.ts';

export interface SecondOrganization {
  readonly agentSocket: string;
  /** A Management API call that has to succeed; its body. `path` without `/frontdoor/{id}`. */
  call<Body = unknown>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<Body>;
  close(): Promise<void>;
}

export async function startSecondOrganization({ folder, control }: Separate): Promise<SecondOrganization> {
  const first = control.ready as unknown as { apiUrl: string; accountId: string; apiToken: string };
  const ca = join(folder, 'api-ca.pem');
  const client = new JsonClient({ origin: first.apiUrl, ca: readFileSync(ca, 'utf8') });
  let account = `${first.accountId}:${first.apiToken}`;
  const ask = async (method: 'GET' | 'POST', path: string, body?: object): Promise<never> => {
    const headers = { authorization: `Basic ${account}` };
    const answer = await client.request({ method, path, headers, body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json as never;
  };
  const { id: organizationId } = (await ask('POST', '/organizations', { name: 'second' })) as { id: string };
  const made: { id: string; token: string } = await ask('POST', '/api-accounts', {
    name: 'second',
    organizationId,
  });
  account = `${made.id}:${made.token}`;
  const { id }: { id: string } = await ask('POST', '/frontdoor', { name: 'second', organizationId });
  const root = `/frontdoor/${id}`;
  const { enrollmentCode }: { enrollmentCode: string } = await ask('POST', `${root}/agents/enrollments`, {});
  const dataDir = join(folder, 'second-organization');
  const agentSocket = join(dataDir, AGENT_SOCKET_FILE);
  const agent = new PartProcess<AgentStatusResult>({
    name: 'agent of the second organization',
    probe: () => callAgent(agentSocket, { op: 'status' }, 1_000),
    args: () => [
      'agent',
      'start',
      '--data-dir',
      dataDir,
      '--api',
      first.apiUrl,
      '--ca',
      ca,
      '--name',
      'second',
      '--enrollment-token',
      enrollmentCode,
    ],
  });
  await agent.start();
  return {
    agentSocket,
    call: (method, path, body) => ask(method as 'POST', root + path, body),
    close: async () => {
      await agent.stop();
      await client.close();
    },
  };
}
