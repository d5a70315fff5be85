/**
 * A port at which clients of one share send datagrams: each source address is a flow with a circuit of its own. Flows are few
 * enough for the gateway in all, for an address and for the share, so that a flood of forged sources costs neither the memory
 * nor the connections of others. ADR 0119.
 */
import { systemClock, type Log } from '#base';
import { contain, failAlone } from '#net';
import { UdpFlows, type DatagramConnection } from '#net/datagrams';
import type { ConnectionAdmission } from '../exchange/connection-admission.ts';
import type { GatewayContext } from '../exchange/gateway-context.ts';
import type { GatewayHost } from '../circuits/upstream.ts';
import { DatagramStream } from './datagram-stream.ts';
import type { DatagramStreams } from './datagram-streams.ts';
import { portFacts, type OpenPort, type SharePortPlace } from './share-ports.ts';

/** A flow without a datagram in either direction for this time ends. */
const IDLE_MS = 60_000;
const CHECK_MS = 5_000;

export interface UdpPortOptions {
  readonly place: SharePortPlace;
  readonly context: GatewayContext;
  readonly streams: DatagramStreams;
  /** Counts flows, apart from connections. */
  readonly admission: ConnectionAdmission;
  readonly log: Log;
}

/** Rejects with `port-taken` or `cannot-listen`. */
export async function openUdpPort(port: number, options: UdpPortOptions): Promise<OpenPort> {
  const { place, context, streams, admission, log } = options;
  const find = (): GatewayHost | undefined => context.table.streams.atPort('udp', port);
  const connect = async (flow: DatagramConnection, key: string): Promise<void> => {
    const address = flow.remoteAddress;
    const host = find();
    if (host === undefined || !admission.enter(address, context.nowMs)) {
      flows.refuse(key, flow);
      return;
    }
    flow.once('close', () => admission.leave(address));
    const stream = new DatagramStream(host, {
      context,
      flow,
      facts: portFacts(address, context.nowMs),
      find,
      onClosed: (closed) => streams.delete(closed),
    });
    const open = streams.add(stream);
    if (!(await stream.begin(host, open))) flows.refuse(key, flow);
  };
  const flows: UdpFlows = await UdpFlows.open({
    network: 'udp',
    host: place.host,
    port,
    name: `port ${port} of a share`,
    isShared: place.isShared,
    idleTimeoutMs: IDLE_MS,
    checkIntervalMs: CHECK_MS,
    maxFlows: context.limits.maxStreamsPerShare,
    clock: systemClock,
    log,
    onFlow: (flow, first, key) => {
      flow.receive(first);
      const fail = (): void => void flow.destroy();
      const what = { kind: 'connection', id: `of datagrams of ${key}`, log, fail } as const;
      return contain(what, () => connect(flow, key).catch((error: unknown) => failAlone(what, error)));
    },
  });
  return {
    close: () => {
      void flows.close();
      // The socket stops receiving, and the flows end with their share.
    },
  };
}
