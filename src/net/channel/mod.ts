/** Channels: frames over connections. */
export {
  Channel,
  ChannelError,
  type ChannelDriver,
  type ChannelHandlers,
  type ChannelOptions,
  type ChannelPeer,
  type ChannelUnderlay,
  type DroppedFrames,
} from './channel.ts';
export type { FrameObserver } from './frame-observers.ts';
export type { HeartbeatOptions } from './heartbeat-machine.ts';
export { ChannelListener, type ChannelListenerOptions, type HelloDecision } from './channel-listener.ts';
export { isUnderlayReachable } from './underlay-dial.ts';
export { dialChannel, type ConnectionPlan, type DialChannelOptions } from './channel-dialer.ts';
export type { ConnectionType } from './group-keeper.ts';
export type { SendLimits } from './tls-driver.ts';
export { channelTls, type TlsIdentity } from './channel-tls.ts';
export {
  acceptMemoryChannel,
  openMemoryChannel,
  type ChannelOpener,
  type MemoryPeer,
} from './memory-driver.ts';
export { fingerprintOf, leafOf } from './peer-certificate.ts';
