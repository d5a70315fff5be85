/** Connections of datagrams, which circuits take like those of streams: flows of one socket, and sockets of one peer each. */
export { DatagramConnection, type DatagramAddresses } from './datagram-connection.ts';
export { FlowTable, type FlowSource } from './datagram-flows.ts';
export { UdpDialer, type UdpDial } from './udp-dialer.ts';
export { UdpFlows } from './udp-flows.ts';
export { listenUdp, openUdpSocket } from './udp-socket.ts';
