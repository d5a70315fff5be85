/** A port at which clients of one share connect by TCP. */
import { createServer, type Socket } from 'node:net';
import type { Log } from '#base';
import { containSocket, listenOn } from '#net';
import { addressOf } from '../circuits/route-decision.ts';
import type { GatewayHost } from '../circuits/upstream.ts';
import type { ConnectionAdmission } from '../exchange/connection-admission.ts';
import type { GatewayContext } from '../exchange/gateway-context.ts';
import { portFacts, type OpenPort, type SharePortPlace } from './share-ports.ts';
import type { StreamConnections } from './stream-connections.ts';

export interface TcpPortOptions {
  readonly place: SharePortPlace;
  readonly context: GatewayContext;
  readonly connections: StreamConnections;
  readonly admission: ConnectionAdmission;
  readonly log: Log;
}

/** Rejects with `port-taken` or `cannot-listen`. */
export async function openTcpPort(port: number, options: TcpPortOptions): Promise<OpenPort> {
  const { place, context, connections, admission, log } = options;
  const find = (): GatewayHost | undefined => context.table.streams.atPort('tcp', port);
  const accept = (socket: Socket): void => {
    const address = addressOf(socket);
    const host = find();
    if (host === undefined || !admission.enter(address, context.nowMs)) {
      socket.resetAndDestroy();
      return;
    }
    socket.once('close', () => admission.leave(address));
    connections.open(socket, portFacts(address, context.nowMs), host, find);
  };
  const server = createServer(
    {
      allowHalfOpen: true,
      pauseOnConnect: true,
      noDelay: true,
      highWaterMark: context.limits.maxUnsentBytes,
    },
    (socket) => containSocket(socket, log, () => accept(socket)),
  );
  await listenOn(server, { host: place.host, port, reusePort: place.isShared }, log);
  return { close: () => void server.close() };
}
