/** Notifies the organization of a person who signs in from a network that is new for the account. */
import { networkOfAddress } from '#domain';
import { findPerson, noteNetwork, type SessionClient, type SessionOwner } from '../credentials/people/mod.ts';
import { publishEvent } from '../shares/notifications/mod.ts';
import type { Queries, Touch } from '../store/mod.ts';

/** Runs in the transaction of the log-in. API accounts sign in from wherever their programs run. */
export async function noticeNetwork(
  trx: Queries,
  touch: Touch,
  { kind, id, organizationId }: SessionOwner,
  { address, browser }: Pick<SessionClient, 'address' | 'browser'>,
  nowMs: number,
): Promise<void> {
  const network = networkOfAddress(address);
  if (kind !== 'person' || network === undefined) return;
  if (!(await noteNetwork(trx, id, network, nowMs))) return;
  const person = await findPerson(trx, id);
  if (person === undefined) return;
  const { name, role } = person;
  const resource = { kind: 'person', id, name, role: role ?? null, network, address, browser };
  const data = { organizationId, total: 1, resources: [resource] };
  await publishEvent(trx, touch, { organizationId, type: 'sign-in.new-network', data }, nowMs);
}
