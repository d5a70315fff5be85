export {
  Channel,
  ChannelError,
  type ChannelDriver,
  type ChannelHandlers,
  type ChannelOptions,
  type ChannelPeer,
} from './channel/channel.ts';
export type { HeartbeatOptions } from './channel/channel-heartbeat.ts';
export {
  ChannelListener,
  type ChannelListenerOptions,
  type HelloDecision,
} from './channel/channel-listener.ts';
export { dialChannel, type DialChannelOptions } from './channel/channel-dialer.ts';
export { channelServerTls, channelTls, type TlsIdentity } from './channel/channel-tls.ts';
export { openMemoryChannel } from './channel/memory-driver.ts';
export { fingerprintOf, leafOf } from './channel/peer-certificate.ts';
export {
  EgressClient,
  type EgressAnswer,
  type EgressClientOptions,
  type EgressLookup,
} from './egress-client.ts';
export { decodeBackup, type BackupEnd } from './compressed-backup.ts';
export { replaceFileDurably, writeFileDurably } from './durable-file.ts';
export { readPrivateFile, type PrivateFile } from './private-file.ts';
export { probeAddresses, probePort, probeTls, type PortProbe, type TlsProbe } from './probe.ts';
export { loadIdentityFile, saveIdentityFile, type IdentityFile } from './identity-file.ts';
export {
  JsonClient,
  type JsonAnswer,
  type JsonClientOptions,
  type JsonRequest,
  type StreamAnswer,
} from './json-client.ts';
export {
  createApiServer,
  endUnfinishedHandshakes,
  type ApiServerLimits,
  type ServerKeyPair,
} from './http-server.ts';
export { TLS_CIPHERS, TLS_MIN_VERSION } from './tls-policy.ts';
export { fetchServedCertificate } from './served-certificate.ts';
