/**
 * Deletes accounts of the Management API while they are in use, and measures how long their tokens are still
 * accepted.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { JsonClient } from '#net/http';
import type { FirstStart } from '#control';
import { RunningTime } from './deadline.ts';
import type { IdentityWorld } from './identity-world.ts';
import type { ControlReady } from './separate.ts';

export interface AccountRevocation {
  /**
   * Three statuses: of the call before, of the deletion, and of the last call. `200 204 401` is the expected
   * result.
   */
  readonly statuses: string;
  /** Running time from the acknowledged deletion to the first refusal. */
  readonly tookMs: number;
}

export const MAX_API_MS = 1_000;
const WAIT_MS = 30_000;

export async function* accountRevocations(
  { parts }: IdentityWorld,
  times: number,
): AsyncGenerator<AccountRevocation> {
  const { apiUrl, accountId, apiToken, organizationId } = parts.control.ready as ControlReady & FirstStart;
  const ca = readFileSync(join(parts.folder, 'api-ca.pem'), 'utf8');
  const client = new JsonClient({ origin: apiUrl, ca });
  const headers = { authorization: `Basic ${accountId}:${apiToken}` };
  try {
    for (let time = 0; time < times; time += 1) {
      const body = { name: `short ${time}`, organizationId };
      const made = await client.request({ method: 'POST', path: '/api-accounts', headers, body });
      const { id, token } = made.json as { id: string; token: string };
      const statusOf = async (): Promise<number> => {
        const own = { authorization: `Basic ${id}:${token}` };
        return (await client.request({ method: 'GET', path: '/caller', headers: own })).status;
      };
      const before = await statusOf();
      const gone = await client.request({ method: 'DELETE', path: `/api-accounts/${id}`, headers });
      using sinceThen = new RunningTime();
      let last = await statusOf();
      while (last !== 401 && sinceThen.ms < WAIT_MS) last = await statusOf();
      yield { statuses: `${before} ${gone.status} ${last}`, tookMs: sinceThen.ms };
    }
  } finally {
    await client.close();
  }
}
