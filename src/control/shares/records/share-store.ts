/**
 * Creates, changes and deletes shares for the Management API and for agents: uniqueness, default frontend, grants
 * and epochs are decided here. Every function runs inside the caller's transaction and throws a `FrontdoorError`
 * whose message may be shown (`conflict`, `notFound`, `invalid`), which rolls it back.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import {
  BACKEND_MODE_TABLE,
  invalidValue,
  isShareName,
  NO_PATH,
  parseShareTarget,
  SHARE_TOKEN_BYTES,
  shareNameRule,
  shareTokenOf,
  targetForms,
  type BackendMode,
  type Share,
} from '#domain';
import { ingressKindsOf, isPublicStream, type IngressKind } from '#domain/backend-modes';
import {
  writeJointly,
  lockedByName,
  lockedForUpdate,
  isUniqueViolation,
  type Queries,
  type Touch,
} from '../../store/mod.ts';
import { environmentsOf } from '../../overlay/records/mod.ts';
import { accessPolicyIdOf, assignAccessPolicy } from './access-policy-store.ts';
import { checkPortGuards } from '../policy/port-guards.ts';
import { choosePort, type PortProtocol, type WantedPort } from './ingress-port-store.ts';
import { checkPeopleProvable } from './policy-warning-store.ts';
import { claimNames, portName, restingOfShareNames, restSharePorts } from './resting-name-store.ts';
import { findSharePolicy } from './share-policy-store.ts';
import {
  addGrants,
  checkedReach,
  claimShareNames,
  joinFrontends,
  missing,
  nameTaken,
  partingWrites,
  placeAuthProviders,
  type WantedReach,
} from './share-reach.ts';
import { findShareForUpdate, relationsOfLocked, shareRecordOf, type LockedShare } from './share-record.ts';
import { relationsOf } from './share-relations.ts';

type Fields<Name extends keyof Share> = { readonly [Each in Name]?: Share[Each] | undefined };

export interface NewShare
  extends
    Pick<Share, 'frontdoorId' | 'environmentId' | 'shareMode' | 'backendMode' | 'target' | 'targetByAgent'>,
    WantedReach {
  /** If given, it is the token, and the share is kept until it is deleted; otherwise the token is random. */
  readonly name?: string | null | undefined;
  /** The shared policy whose rules apply; absent: none for a new share, and unchanged for one that is reclaimed. */
  readonly policyId?: string | null | undefined;
  /** For a public share of a stream; absent or null: `port` for a new share, and unchanged for one that is reclaimed. */
  readonly ingress?: IngressKind | null | undefined;
  /** For a share that has one; absent or null: a free port for a new share, and unchanged for one that is reclaimed. */
  readonly ingressPort?: number | null | undefined;
  readonly nowMs: number;
}

/** Undefined fields are not changed. */
export type ShareChange = WantedReach &
  Fields<'shareMode' | 'backendMode' | 'target' | 'targetByAgent' | 'reserved'> & {
    /** The shared policy whose rules apply; null: none. */
    readonly policyId?: string | null | undefined;
    /** For a public share of a stream; null: it keeps its own. */
    readonly ingress?: IngressKind | null | undefined;
    /** For a share that has one; null: it keeps its port. */
    readonly ingressPort?: number | null | undefined;
  };

/** Creates a share. Throws `conflict` for a name that is taken in the frontdoor, or on a frontend. */
export async function createShare(trx: Queries, touch: Touch, wanted: NewShare): Promise<Share> {
  const name = wanted.name ?? null;
  if (name !== null && !isShareName(name)) throw invalidValue('name', shareNameRule(name));
  const target = checkedTarget(wanted);
  await checkEnvironment(trx, wanted.frontdoorId, wanted.environmentId);
  const id = randomUUID();
  const token = name ?? shareTokenOf(randomBytes(SHARE_TOKEN_BYTES));
  const { ingress, ingressPort } = await reachedAt(trx, wanted, NOWHERE);
  const row = await trx
    .insertInto('share')
    .values({
      id,
      frontdoor_id: wanted.frontdoorId,
      environment_id: wanted.environmentId,
      token,
      name,
      share_mode: wanted.shareMode,
      backend_mode: wanted.backendMode,
      target,
      reserved: name === null ? 0 : 1,
      target_by_agent: wanted.targetByAgent ? 1 : 0,
      ingress,
      ingress_port: ingressPort,
      epoch: 1,
      policy_id:
        wanted.policyId === null || wanted.policyId === undefined
          ? null
          : await accessPolicyIdOf(trx, wanted.frontdoorId, wanted.policyId),
      created_at: wanted.nowMs,
      updated_at: wanted.nowMs,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? nameTaken(token) : error;
    });
  const { frontdoorId, shareMode, nowMs } = wanted;
  const share = { id, token, frontdoorId, shareMode };
  const reach = checkedReach(shareMode, wanted);
  const frontends = await joinFrontends(trx, share, [], reach.frontendIds);
  await claimShareNames(trx, share, [], frontends, nowMs);
  await claimPort(trx, { frontdoorId, protocol: protocolOf(wanted.backendMode), nowMs }, ingressPort);
  await addGrants(trx, share, [], reach.grants);
  await placeAuthProviders(trx, share, [], reach.authProviderIds, wanted.authProviderIds);
  touch('share', id);
  // Custom frontends give names to public shares alone.
  if (shareMode === 'public') {
    const made = shareRecordOf((await relationsOf(trx, [row]))[0]!);
    const stored = made.accessPolicyId === null ? undefined : await findSharePolicy(trx, id);
    checkPortGuards(made, stored);
    await checkPeopleProvable(trx, made, stored);
    return made;
  }
  const grants = reach.grants.toSorted();
  return shareRecordOf({ row, relations: { ...reach, grants, frontends, customZones: [], domains: [] } });
}

/** Changes a share and writes only what differs. Its epoch goes up in any case. */
export async function changeShare(
  trx: Queries,
  touch: Touch,
  before: LockedShare,
  change: ShareChange,
  nowMs: number,
): Promise<Share> {
  const shareMode = change.shareMode ?? before.shareMode;
  const backendMode = change.backendMode ?? before.backendMode;
  const target = checkedTarget({ shareMode, backendMode, target: change.target ?? before.target });
  const targetByAgent = change.targetByAgent ?? (before.targetByAgent && target === before.target);
  const reserved = change.reserved ?? before.reserved;
  const { frontdoorId } = before;
  const { ingress, ingressPort } = await reachedAt(
    trx,
    { shareMode, backendMode, frontdoorId, ingress: change.ingress, ingressPort: change.ingressPort, nowMs },
    { ...before, protocol: protocolOf(before.backendMode) },
  );
  const protocol = protocolOf(backendMode);
  const isOtherPort = ingressPort !== before.ingressPort || protocol !== protocolOf(before.backendMode);
  if (isOtherPort) await restSharePorts(trx, { column: 'share.id', id: before.id }, nowMs);
  const held = relationsOfLocked(before);
  const staysInMode = shareMode === before.shareMode;
  const reach = checkedReach(shareMode, {
    frontendIds: change.frontendIds ?? (staysInMode ? before.frontends.map(({ id }) => id) : []),
    grants: change.grants ?? (staysInMode ? held.grants : []),
    authProviderIds: change.authProviderIds ?? held.authProviderIds,
  });
  const policyId =
    change.policyId === undefined
      ? before.accessPolicyId
      : await assignAccessPolicy(trx, touch, before, change.policyId, nowMs);
  const share = { ...before, shareMode };
  const frontends = await joinFrontends(trx, share, held.frontends, reach.frontendIds);
  const after = { ...reach, frontendIds: frontends.map(({ id }) => id) };
  const update = trx
    .updateTable('share')
    .set({
      share_mode: shareMode,
      backend_mode: backendMode,
      target,
      target_by_agent: targetByAgent ? 1 : 0,
      ingress,
      ingress_port: ingressPort,
      reserved: reserved ? 1 : 0,
      epoch: before.epoch + 1,
      updated_at: nowMs,
    })
    .where('id', '=', before.id)
    .returningAll();
  const [row] = await writeJointly(trx, partingWrites(trx, share, held, after, nowMs), update);
  await claimShareNames(trx, share, held.frontends, frontends, nowMs);
  if (isOtherPort) await claimPort(trx, { frontdoorId, protocol, nowMs }, ingressPort);
  await addGrants(trx, share, held.grants, reach.grants);
  await placeAuthProviders(trx, share, held.authProviderIds, reach.authProviderIds, change.authProviderIds);
  touch('share', before.id);
  const relations = {
    ...held,
    frontends,
    grants: reach.grants.toSorted(),
    authProviderIds: reach.authProviderIds,
  };
  const changed = shareRecordOf({ row: row!, relations });
  const isLess = held.authProviderIds.some((id) => !reach.authProviderIds.includes(id));
  const hasPort = isPublicStream(shareMode, backendMode);
  if (hasPort || (shareMode === 'public' && (!staysInMode || isLess || policyId !== before.accessPolicyId))) {
    const stored = await findSharePolicy(trx, before.id);
    checkPortGuards(changed, stored);
    await checkPeopleProvable(trx, changed, stored);
  }
  return changed;
}

/** `before` is the record before an agent reclaimed it; undefined if it is new. */
export interface ShareTakeover {
  readonly before: Share | undefined;
  readonly share: Share;
}

/**
 * Implements the agent's `share` command. A name of its own environment is reclaimed: the same record gets a new epoch and
 * the values of the request.
 */
export async function createOrTakeBackShare(
  trx: Queries,
  touch: Touch,
  wanted: NewShare,
): Promise<ShareTakeover> {
  const { name, frontdoorId, environmentId, nowMs } = wanted;
  if (typeof name === 'string') {
    await lockShareName(trx, frontdoorId, name);
    const before = await findShareForUpdate(trx, frontdoorId, name);
    if (before?.environmentId === environmentId)
      return { before, share: await changeShare(trx, touch, before, wanted, nowMs) };
  }
  return { before: undefined, share: await createShare(trx, touch, wanted) };
}

/** The second of two concurrent requests of agents for a name finds the share of the first. */
export async function lockShareName(trx: Queries, frontdoorId: string, name: string): Promise<void> {
  await lockedByName(trx, `share ${frontdoorId} ${name}`);
}

/** Removes a share; its names rest. */
export async function deleteShare(
  trx: Queries,
  touch: Touch,
  { id }: Pick<LockedShare, 'id'>,
  nowMs: number,
): Promise<void> {
  const rest = restingOfShareNames(trx, { column: 'share.id', id }, nowMs);
  await writeJointly(trx, [rest], trx.deleteFrom('share').where('id', '=', id));
  touch('share', id);
}

/**
 * An agent releases a share of its own environment, with or without a name; its names rest. Returns false if it
 * has none with this token.
 */
export async function releaseShare(
  trx: Queries,
  touch: Touch,
  share: { readonly environmentId: string; readonly token: string },
  nowMs: number,
): Promise<boolean> {
  const held = trx.selectFrom('share').select('id').where('environment_id', '=', share.environmentId);
  const found = await lockedForUpdate(trx, held.where('token', '=', share.token)).executeTakeFirst();
  if (found === undefined) return false;
  await deleteShare(trx, touch, found, nowMs);
  return true;
}

type IngressRequest = Pick<
  NewShare,
  'shareMode' | 'backendMode' | 'frontdoorId' | 'ingress' | 'ingressPort' | 'nowMs'
>;
type Ingress = Pick<Share, 'ingress' | 'ingressPort'>;
const NOWHERE = { ingress: null, ingressPort: null, protocol: 'tcp' } as const;
const ONLY_STREAMS = 'null: it is for a public share with a tcp:// or udp:// target';

/** How clients reach a share in these modes, which they reached by `before`. */
async function reachedAt(
  trx: Queries,
  wanted: IngressRequest,
  before: Ingress & { readonly protocol: PortProtocol },
): Promise<Ingress> {
  const { shareMode, backendMode, frontdoorId, nowMs } = wanted;
  const port = wanted.ingressPort ?? undefined;
  // A share that loses its port may be sent back as it was read.
  const isOtherPort = port !== undefined && port !== before.ingressPort;
  if (!isPublicStream(shareMode, backendMode)) {
    const isOther = (wanted.ingress ?? before.ingress) !== before.ingress;
    if (isOther) throw invalidValue('ingress', ONLY_STREAMS);
    if (isOtherPort) throw invalidValue('ingressPort', ONLY_STREAMS);
    return NOWHERE;
  }
  const kinds = ingressKindsOf(backendMode);
  const ingress = wanted.ingress ?? kinds.find((kind) => kind === before.ingress) ?? 'port';
  if (!kinds.includes(ingress))
    throw invalidValue('ingress', `${kinds.join(' or ')} (backendMode ${backendMode})`);
  if (ingress !== 'port') {
    if (isOtherPort)
      throw invalidValue('ingressPort', `null: a share with the ingress ${ingress} has no port of its own`);
    return { ingress, ingressPort: null };
  }
  const protocol = protocolOf(backendMode);
  const stays = before.ingressPort !== null && !isOtherPort && protocol === before.protocol;
  if (stays) return { ingress, ingressPort: before.ingressPort };
  const hasOne = before.ingressPort !== null && protocol === before.protocol;
  return { ingress, ingressPort: await choosePort(trx, { protocol, frontdoorId, port, hasOne, nowMs }) };
}

/** `choosePort` has judged the rest of a port, which ends here. */
async function claimPort(
  trx: Queries,
  { frontdoorId, protocol, nowMs }: Pick<WantedPort, 'frontdoorId' | 'protocol' | 'nowMs'>,
  port: number | null,
): Promise<void> {
  if (port !== null) await claimNames(trx, frontdoorId, [portName(protocol, port)], nowMs);
}

function protocolOf(mode: BackendMode): PortProtocol {
  return BACKEND_MODE_TABLE[mode].speaks === 'datagrams' ? 'udp' : 'tcp';
}

async function checkEnvironment(trx: Queries, frontdoorId: string, id: string): Promise<void> {
  const row = await environmentsOf(trx, frontdoorId).select('id').where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw missing('Environment', id);
}

/** Returns the normalised target of a share in these modes. */
function checkedTarget({
  shareMode,
  backendMode,
  target: text,
}: Pick<NewShare, 'shareMode' | 'backendMode' | 'target'>): string {
  const target = parseShareTarget(text);
  if (target === undefined) throw invalidValue('target', 'uri');
  if (target.mode !== backendMode)
    throw invalidValue('target', `${targetForms([backendMode])} (backendMode ${backendMode})`);
  if (shareMode === 'private' && 'path' in target && target.path !== '')
    throw invalidValue('target', `${targetForms([backendMode]).replaceAll('[/PATH]', '')}, ${NO_PATH}`);
  return target.url;
}
