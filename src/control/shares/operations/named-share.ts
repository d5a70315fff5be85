/** The share that the path of a request names. Each function throws `notFound` when the frontdoor has no such share. */
import type { Share } from '#domain';
import {
  findShare,
  findShareForUpdate,
  findShareId,
  findShareIdForUpdate,
  type LockedShare,
} from '../records/share-record.ts';
import type { Queries } from '../../store/mod.ts';
import { notFound } from './api-errors.ts';
import type { Call } from './call.ts';

type ShareCall = Pick<Call<unknown, 'token'>, 'frontdoor' | 'parameters'>;

export async function namedShare(db: Queries, { frontdoor, parameters }: ShareCall): Promise<Share> {
  return present(await findShare(db, frontdoor.id, parameters.token), parameters.token);
}

/** The share as it stays until the transaction ends. */
export async function lockedShare(trx: Queries, { frontdoor, parameters }: ShareCall): Promise<LockedShare> {
  return present(await findShareForUpdate(trx, frontdoor.id, parameters.token), parameters.token);
}

/** For what belongs to the share and needs no more of it. */
export async function namedShareId(db: Queries, { frontdoor, parameters }: ShareCall): Promise<string> {
  return present(await findShareId(db, frontdoor.id, parameters.token), parameters.token);
}

export async function lockedShareId(trx: Queries, { frontdoor, parameters }: ShareCall): Promise<string> {
  return present(await findShareIdForUpdate(trx, frontdoor.id, parameters.token), parameters.token);
}

function present<T>(found: T | undefined, token: string): T {
  if (found === undefined) throw notFound('Share', token);
  return found;
}
