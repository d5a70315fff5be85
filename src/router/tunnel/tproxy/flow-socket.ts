/**
 * The socket of one intercepted flow: bound to the destination that the source sends to and connected to the source, so
 * that replies come from the destination, and the system passes it the source's further datagrams.
 */
import { createSocket } from 'node:dgram';
import type { FlowSource } from '#net/datagrams';
import type { SocketCalls } from '../machine/socket-calls.ts';
import type { InterceptedDatagram } from './datagram-reader.ts';
import { openFlowSocket } from './transparent-socket.ts';

export interface FlowOptions extends Pick<InterceptedDatagram, 'source' | 'destination'> {
  /** Receives the datagrams that come after the first one. */
  onDatagram(datagram: Uint8Array): void;
  onClosed(): void;
}

/** @throws FrontdoorError `unavailable` if the system refuses the socket. */
export function openFlow(calls: SocketCalls, options: FlowOptions): FlowSource {
  const { source, destination } = options;
  const { fd } = openFlowSocket(calls, destination);
  const socket = createSocket(source.address.includes(':') ? 'udp6' : 'udp4');
  const { promise: connected, resolve } = Promise.withResolvers<void>();
  let isConnected = false;
  // The event comes before `bind` returns.
  socket.once('listening', () => {
    socket.connect(source.port, source.address, () => {
      isConnected = true;
      resolve();
    });
  });
  socket.bind({ fd });
  socket.on('message', (datagram, { address, port }) => {
    // Datagrams of other sources can arrive before the socket is connected.
    if (port === source.port && address === source.address) options.onDatagram(datagram);
  });
  // A source that closed its port: the flow ends when it is idle.
  socket.on('error', () => {});
  return {
    addresses: {
      localAddress: destination.address,
      localPort: destination.port,
      remoteAddress: source.address,
      remotePort: source.port,
    },
    send: (datagram, sent) => {
      // A datagram that the system refuses is lost, as on any network.
      const send = (): void => socket.send(datagram, () => sent());
      if (isConnected) send();
      else void connected.then(send);
    },
    onClosed: () => {
      socket.close();
      options.onClosed();
    },
  };
}
