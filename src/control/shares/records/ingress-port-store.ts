/**
 * Ports of public shares that do not speak HTTP. Gateways report which ports they open; a share gets one of these, which no
 * other share of the installation has, and keeps it. A port that was given up rests like a name: another organization gets it
 * only when no other port is free. One of several organizations gets half of the ports at most. ADR 0119.
 */
import { randomInt } from 'node:crypto';
import { FrontdoorError } from '#base';
import { invalidValue, type BackendMode } from '#domain';
import type { SharePortRange } from '#domain/gateway-shapes';
import { lockedByName, type Queries, type Store } from '../../store/mod.ts';
import { portName } from './resting-name-store.ts';

export type PortProtocol = 'tcp' | 'udp';

/** The mode of the shares that have ports of a protocol. */
const MODES = { tcp: 'tcpTunnel', udp: 'udpTunnel' } as const satisfies Record<PortProtocol, BackendMode>;

export interface WantedPort {
  readonly protocol: PortProtocol;
  readonly frontdoorId: string;
  /** Undefined: any that is free. */
  readonly port: number | undefined;
  /** The share has a port of this protocol, which it gives up. */
  readonly hasOne: boolean;
  readonly nowMs: number;
}

/** So many ports may belong to one organization, however few there are. */
const LEAST_BOUND = 10;

/** Replaces what a gateway has reported. An equal report writes nothing. */
export async function takePortRange(
  store: Pick<Store, 'transaction' | 'db'>,
  gatewayId: string,
  protocol: PortProtocol,
  range: SharePortRange | null,
): Promise<void> {
  const rows = store.db.selectFrom('gateway_port_range').selectAll();
  const before = await rows
    .where('gateway_id', '=', gatewayId)
    .where('protocol', '=', protocol)
    .executeTakeFirst();
  const columns = range && { first_port: range.first, last_port: range.last };
  if (columns === null ? before === undefined : isSame(before, columns)) return;
  await store.transaction(async (trx) => {
    if (columns === null) {
      await trx
        .deleteFrom('gateway_port_range')
        .where('gateway_id', '=', gatewayId)
        .where('protocol', '=', protocol)
        .execute();
      return;
    }
    await trx
      .insertInto('gateway_port_range')
      .values({ gateway_id: gatewayId, protocol, ...columns })
      .onConflict((conflict) => conflict.columns(['gateway_id', 'protocol']).doUpdateSet(columns))
      .execute();
  });
}

function isSame(
  before: { readonly first_port: number; readonly last_port: number } | undefined,
  range: { readonly first_port: number; readonly last_port: number },
): boolean {
  return before?.first_port === range.first_port && before.last_port === range.last_port;
}

/** The ranges that gateways offer, ascending and without overlaps. */
export async function offeredPorts(db: Queries, protocol: PortProtocol): Promise<readonly SharePortRange[]> {
  const rows = await db
    .selectFrom('gateway_port_range')
    .select(['first_port as first', 'last_port as last'])
    .where('protocol', '=', protocol)
    .orderBy('first_port')
    .execute();
  const merged: { first: number; last: number }[] = [];
  for (const { first, last } of rows) {
    const before = merged.at(-1);
    if (before !== undefined && first <= before.last + 1) before.last = Math.max(before.last, last);
    else merged.push({ first, last });
  }
  return merged;
}

/**
 * Returns a port for a share, which the caller stores in the same transaction. Throws `invalid` for a port that no gateway
 * opens, and `conflict` for one that is taken, or where no port is left.
 */
export async function choosePort(trx: Queries, wanted: WantedPort): Promise<number> {
  // Two transactions that choose at once would choose the same port.
  await lockedByName(trx, 'ingress ports');
  const { protocol } = wanted;
  const ranges = await offeredPorts(trx, protocol);
  const name = protocol.toUpperCase();
  const option = `--${protocol}-ports`;
  if (ranges.length === 0)
    throw new FrontdoorError(
      'conflict',
      'no-ingress-ports',
      `No gateway opens ports for ${name}: start gateways with ${option}, such as ${option} 20000-20099`,
    );
  const used = await usedPorts(trx, protocol);
  if (!wanted.hasOne) await checkPart(trx, wanted, countOf(ranges));
  const { port } = wanted;
  if (port === undefined) return freePort(trx, ranges, used, wanted);
  if (!ranges.some(({ first, last }) => port >= first && port <= last))
    throw invalidValue('ingressPort', `a port that gateways open: ${textOf(ranges)}`);
  const rest = await restsOf(trx, wanted, [port]);
  if (used.has(port) || rest.some(({ isOwn }) => !isOwn))
    throw new FrontdoorError(
      'conflict',
      'ingress-port-taken',
      `Port ${port} belongs to another share, or belonged to one until recently: choose another, or none to get a free one`,
    );
  return port;
}

async function freePort(
  trx: Queries,
  ranges: readonly SharePortRange[],
  used: ReadonlySet<number>,
  wanted: WantedPort,
): Promise<number> {
  const free: number[] = [];
  for (const { first, last } of ranges)
    for (let port = first; port <= last; port += 1) if (!used.has(port)) free.push(port);
  if (free.length === 0)
    throw new FrontdoorError(
      'conflict',
      'no-ingress-port-left',
      `All ports that gateways open for ${wanted.protocol.toUpperCase()} (${textOf(ranges)}) belong to shares: delete one, or start gateways with more --${wanted.protocol}-ports`,
    );
  const rests = new Map((await restsOf(trx, wanted)).map((rest) => [rest.name, rest]));
  const rested = free.filter((port) => !rests.has(portName(wanted.protocol, port)));
  if (rested.length > 0) return rested[randomInt(rested.length)]!;
  const restOf = (port: number) => rests.get(portName(wanted.protocol, port))!;
  // The organization's own ports first, then the one that was given up first.
  return free.toSorted(
    (a, b) =>
      Number(restOf(b).isOwn) - Number(restOf(a).isOwn) || restOf(a).createdAtMs - restOf(b).createdAtMs,
  )[0]!;
}

/** Where there are several organizations, none takes all ports of the others. */
async function checkPart(trx: Queries, { protocol, frontdoorId }: WantedPort, total: number): Promise<void> {
  const most = Math.max(LEAST_BOUND, Math.ceil(total / 2));
  const { own, organizations } = await trx
    .selectFrom('frontdoor')
    .leftJoin('share', (join) =>
      join
        .onRef('share.frontdoor_id', '=', 'frontdoor.id')
        .on('share.backend_mode', '=', MODES[protocol])
        .on('share.ingress_port', 'is not', null),
    )
    .select((eb) => [
      eb.fn.count<number | string>('organization_id').distinct().as('organizations'),
      eb.fn
        .count<number | string>('share.id')
        .filterWhere('organization_id', '=', (claimant) =>
          claimant
            .selectFrom('frontdoor as own')
            .select('own.organization_id')
            .where('own.id', '=', frontdoorId),
        )
        .as('own'),
    ])
    .executeTakeFirstOrThrow();
  if (Number(organizations) < 2 || Number(own) < most) return;
  throw new FrontdoorError(
    'conflict',
    'ingress-ports-of-organization',
    `The organization has ${most} ports for ${protocol.toUpperCase()}, which is the most for one of several organizations: delete a share that has one, or start gateways with more --${protocol}-ports`,
  );
}

async function usedPorts(trx: Queries, protocol: PortProtocol): Promise<ReadonlySet<number>> {
  const rows = await trx
    .selectFrom('share')
    .select('ingress_port')
    .where('backend_mode', '=', MODES[protocol])
    .where('ingress_port', 'is not', null)
    .execute();
  return new Set(rows.flatMap(({ ingress_port }) => ingress_port ?? []));
}

/** The ports that rest; all of them by default. */
async function restsOf(
  trx: Queries,
  { protocol, frontdoorId, nowMs }: WantedPort,
  ports?: readonly number[],
): Promise<{ readonly name: string; readonly isOwn: boolean; readonly createdAtMs: number }[]> {
  const rests = trx
    .selectFrom('resting_name')
    .select(['name', 'organization_id', 'created_at'])
    .select((row) =>
      row.selectFrom('frontdoor').select('organization_id').where('id', '=', frontdoorId).as('claimant'),
    )
    .where('expires_at', '>', nowMs);
  const names = ports?.map((port) => portName(protocol, port));
  const rows = await (
    names === undefined ? rests.where('name', 'like', `${protocol}:%`) : rests.where('name', 'in', names)
  ).execute();
  return rows.map((row) => ({
    name: row.name,
    isOwn: row.organization_id === row.claimant,
    createdAtMs: row.created_at,
  }));
}

function countOf(ranges: readonly SharePortRange[]): number {
  return ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0);
}

function textOf(ranges: readonly SharePortRange[]): string {
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(', ');
}
