/**
 * The resources of a frontdoor or an environment, as numbers and a few names, for the audit trail before they are
 * deleted.
 */
import { lockIdentity } from '../../overlay/records/mod.ts';
import { listTotal, lockedForUpdate, type Queries } from '../../store/mod.ts';

export interface HeldByEnvironment {
  readonly shareCount: number;
  /** The first ones by token. */
  readonly shareTokens: readonly string[];
}

export interface HeldByFrontdoor extends HeldByEnvironment {
  readonly environmentCount: number;
  readonly authProviderCount: number;
  /** The first ones by name. */
  readonly customFrontendHostnames: readonly string[];
}

const MAX_TOKENS = 100;
const MAX_HOSTNAMES = 100;

/** The resources are locked until the transaction ends. */
export async function heldByEnvironment(trx: Queries, id: string): Promise<HeldByEnvironment> {
  await lockIdentity(trx, id);
  return sharesOf(trx, 'environment_id', id);
}

/** The resources are locked until the transaction ends. */
export async function heldByFrontdoor(trx: Queries, id: string): Promise<HeldByFrontdoor> {
  await lockedForUpdate(trx, trx.selectFrom('frontdoor').select('id').where('id', '=', id)).execute();
  const customFrontends = await trx
    .selectFrom('hostname_claim')
    .select('hostname')
    .where('frontdoor_id', '=', id)
    .where('share_id', 'is', null)
    .orderBy('hostname')
    .limit(MAX_HOSTNAMES)
    .execute();
  return {
    ...(await sharesOf(trx, 'frontdoor_id', id)),
    environmentCount: await listTotal(trx, 'environment', id),
    authProviderCount: await listTotal(trx, 'auth-provider', id),
    customFrontendHostnames: customFrontends.map(({ hostname }) => hostname),
  };
}

async function sharesOf(
  trx: Queries,
  owner: 'environment_id' | 'frontdoor_id',
  id: string,
): Promise<HeldByEnvironment> {
  const shares = trx.selectFrom('share').where(owner, '=', id);
  const { shareCount } = await shares
    .select((eb) => eb.fn.countAll<number>().as('shareCount'))
    .executeTakeFirstOrThrow();
  const rows = await shares.select('token').orderBy('token').limit(MAX_TOKENS).execute();
  return { shareCount, shareTokens: rows.map(({ token }) => token) };
}
