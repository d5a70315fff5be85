/**
 * Compares what a router says that it has with what this controller knows, in the terms of `ziti fabric validate`. Values of
 * routers are JSON with the field names of OpenZiti's; Go writes null for an empty list.
 */
import { compileReader, Part, Type } from '#base/shapes';
import { LinkState, TerminatorState, type MgmtInit } from '#wire/ctrl';

type LinkDetail = NonNullable<NonNullable<MgmtInit<'validateRouterLinksResult'>['linkDetails']>[number]>;
type TerminatorDetail = NonNullable<NonNullable<MgmtInit<'validateSdkTerminatorsResult'>['details']>[number]>;
type CircuitDetail = NonNullable<MgmtInit<'validateCircuitsResult'>['details']>[string];

const orText = () => Part.orElse(Part.text(), '');
const orFlag = () => Part.orElse(Part.flag(), false);

const connectionSchema = Type.Object({ Type: orText(), Source: orText(), Dest: orText() });
const linksSchema = Type.Object({
  links: Part.orElse(
    Type.Array(
      Type.Object({
        id: Part.someText(),
        dest: orText(),
        dialed: orFlag(),
        connections: Part.orElse(Type.Array(connectionSchema), []),
      }),
    ),
    [],
  ),
});
const terminatorsSchema = Type.Object({
  entries: Part.orElse(
    Type.Array(
      Type.Object({
        id: Part.someText(),
        state: orText(),
        operationActive: orFlag(),
        createTime: orText(),
        lastAttempt: orText(),
      }),
    ),
    [],
  ),
});
const routedSchema = Type.Object({
  circuits: Part.mapOf(
    Type.Object({ ctrlId: orText(), destinations: Part.orElse(Part.mapOf(Part.text()), {}) }),
  ),
});
const heldSchema = Type.Object({
  circuits: Part.orElse(Part.mapOf(Type.Object({ circuitId: Part.someText(), ctrlId: orText() })), {}),
});
const connectionsSchema = Type.Object({
  identity_connections: Part.orElse(
    Part.mapOf(
      Type.Object({
        unreported_count: Part.orElse(Part.count(), 0),
        being_reported_count: Part.orElse(Part.count(), 0),
        unreported_state_changed: orFlag(),
        being_reported_state_changed: orFlag(),
        connections: Part.orElse(Type.Array(Type.Object({ closed: orFlag() })), []),
      }),
    ),
    {},
  ),
});

/** Undefined for a value that is not of the form. */
export type Read<T> = (value: unknown) => T | undefined;

function reader<S extends Parameters<typeof compileReader>[0]>(schema: S) {
  const read = compileReader(schema);
  return (value: unknown) => {
    const found = read(value);
    return 'value' in found ? found.value : undefined;
  };
}

export const readLinks = reader(linksSchema);
export const readTerminators = reader(terminatorsSchema);
export const readRouted = reader(routedSchema);
export const readHeld = reader(heldSchema);
export const readConnections = reader(connectionsSchema);

export type ReportedLinks = NonNullable<ReturnType<typeof readLinks>>;
export type ReportedTerminators = NonNullable<ReturnType<typeof readTerminators>>;
export type ReportedRouted = NonNullable<ReturnType<typeof readRouted>>;
export type ReportedHeld = NonNullable<ReturnType<typeof readHeld>>;
export type ReportedConnections = NonNullable<ReturnType<typeof readConnections>>;

export interface KnownLink {
  readonly id: string;
  readonly sourceId: string;
  readonly destinationId: string;
  readonly connections: readonly {
    readonly type: string;
    readonly localAddress: string;
    readonly remoteAddress: string;
  }[];
}

/** A link is valid if both have it while its other end is connected, and the dialer's connections are the known ones. */
export function compareLinks(
  routerId: string,
  reported: ReportedLinks,
  known: Iterable<KnownLink>,
  isConnected: (routerId: string) => boolean,
): LinkDetail[] {
  const left = new Map(Array.from(known, (link) => [link.id, link]));
  const details = reported.links.map(({ id, dest, dialed, connections }): LinkDetail => {
    const link = left.get(id);
    left.delete(id);
    const destConnected = isConnected(dest);
    const detail = { linkId: id, routerState: LinkState.LinkEstablished, destRouterId: dest, dialed };
    if (link === undefined)
      return { ...detail, destConnected, ctrlState: LinkState.LinkUnknown, isValid: !destConnected };
    const differ = dialed && connectionsText(connections.map(asKnown)) !== connectionsText(link.connections);
    return {
      ...detail,
      destConnected,
      ctrlState: LinkState.LinkEstablished,
      isValid: destConnected && !differ,
      messages: differ ? [`link ${id}: the controller knows other connections`] : [],
    };
  });
  for (const { id, sourceId, destinationId } of left.values()) {
    const destRouterId = sourceId === routerId ? destinationId : sourceId;
    details.push({
      linkId: id,
      ctrlState: LinkState.LinkEstablished,
      routerState: LinkState.LinkUnknown,
      destRouterId,
      destConnected: isConnected(destRouterId),
      dialed: sourceId === routerId,
    });
  }
  return details;
}

/** A terminator is valid if it is established at the router and known here. */
export function compareTerminators(
  { entries }: ReportedTerminators,
  knownIds: Iterable<string>,
): TerminatorDetail[] {
  const left = new Set(knownIds);
  const details = entries.map((entry): TerminatorDetail => {
    const isKnown = left.delete(entry.id);
    const { id: terminatorId, state: routerState, operationActive, createTime, lastAttempt } = entry;
    return {
      terminatorId,
      routerState,
      operationActive,
      createTime,
      lastAttempt,
      ctrlState: isKnown ? TerminatorState.Valid : TerminatorState.Unknown,
      isValid: isKnown && routerState === 'established',
    };
  });
  for (const terminatorId of left)
    details.push({ terminatorId, ctrlState: TerminatorState.Valid, routerState: 'unknown' });
  return details;
}

/** The kind of a circuit's end in the forwarder whose circuits SDKs hold themselves. */
const SDK_END = 'xg-edge-fwd';

/** `edge` and `sdk` are what the edge part and the SDKs hold; circuits of other controllers are left out. */
export function compareCircuits(
  controllerId: string,
  knownIds: Iterable<string>,
  routed: ReportedRouted,
  edge: ReportedHeld | undefined,
  sdk: ReportedHeld | undefined,
): Record<string, CircuitDetail> {
  const details: Record<string, CircuitDetail & object> = {};
  for (const circuitId of knownIds) {
    const entry = routed.circuits[circuitId];
    const isSdks = Object.values(entry?.destinations ?? {}).includes(SDK_END);
    details[circuitId] = {
      circuitId,
      destinations: entry?.destinations ?? {},
      missingInForwarder: entry === undefined,
      missingInEdge: isSdks,
      missingInSdk: isSdks,
    };
  }
  for (const [circuitId, { ctrlId }] of Object.entries(routed.circuits))
    if (ctrlId === controllerId) details[circuitId] ??= { circuitId, missingInCtrl: true };
  const lost = { missingInCtrl: true, missingInForwarder: true };
  for (const { circuitId, ctrlId } of Object.values(edge?.circuits ?? {}))
    if (ctrlId === controllerId) (details[circuitId] ??= { circuitId, ...lost }).missingInEdge = false;
  for (const { circuitId, ctrlId } of Object.values(sdk?.circuits ?? {}))
    if (ctrlId === controllerId)
      (details[circuitId] ??= { circuitId, ...lost, missingInEdge: true }).missingInSdk = false;
  return details;
}

export function compareConnections(reported: ReportedConnections, known: ReadonlySet<string>): string[] {
  const rows = Object.entries(reported.identity_connections);
  const reportedIds = new Set(rows.map(([id]) => id));
  const errors = rows.flatMap(([id, row]) => {
    const isConnected = row.connections.some(({ closed }) => !closed);
    const isKnown = known.has(id);
    return [
      isConnected && !isKnown ? `router reports identity ${id} connected, but controller disagrees` : '',
      !isConnected && isKnown
        ? `router reports identity ${id} is not connected, but controller disagrees`
        : '',
      row.unreported_count > 0 ? `identity ${id} has unreported events` : '',
      row.being_reported_count > 0 ? `identity ${id} has events still being reported` : '',
      row.unreported_state_changed ? `identity ${id} has unreported state change` : '',
      row.being_reported_state_changed ? `identity ${id} has state change being reported` : '',
    ].filter((text) => text !== '');
  });
  const unreported = [...known].filter((id) => !reportedIds.has(id));
  return [
    ...errors,
    ...unreported.map((id) => `ctrl reports identity ${id} is connected, but router disagrees`),
  ];
}

function asKnown({
  Type: type,
  Source: localAddress,
  Dest: remoteAddress,
}: {
  readonly Type: string;
  readonly Source: string;
  readonly Dest: string;
}): KnownLink['connections'][number] {
  return { type, localAddress, remoteAddress };
}

function connectionsText(connections: KnownLink['connections']): string {
  const texts = connections.map(({ type, localAddress, remoteAddress }) =>
    JSON.stringify([type, localAddress, remoteAddress]),
  );
  return texts.sort().join();
}
