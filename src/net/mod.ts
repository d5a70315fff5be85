export {
  Channel,
  ChannelError,
  type ChannelDriver,
  type ChannelHandlers,
  type ChannelOptions,
  type ChannelPeer,
  type ChannelUnderlay,
  type DroppedFrames,
} from './channel/channel.ts';
export type { FrameObserver } from './channel/frame-observers.ts';
export type { HeartbeatOptions } from './channel/heartbeat-machine.ts';
export {
  ChannelListener,
  type ChannelListenerOptions,
  type HelloDecision,
} from './channel/channel-listener.ts';
export { isUnderlayReachable } from './channel/underlay-dial.ts';
export { dialChannel, type ConnectionPlan, type DialChannelOptions } from './channel/channel-dialer.ts';
export type { ConnectionType } from './channel/group-keeper.ts';
export type { SendLimits } from './channel/tls-driver.ts';
export { channelTls, type TlsIdentity } from './channel/channel-tls.ts';
export { TlsPort, type ChannelPort, type TlsHandlerOptions, type TlsPortOptions } from './tls-port.ts';
export { TlsPorts } from './tls-ports.ts';
export { listenFailure, listenOn, portOf } from './listen-on.ts';
export { waitingResourcesText } from './waiting-resources.ts';
export type { WebSocketTimes } from './web-socket-port.ts';
export { WebSocketUpgrades, type WebSocketHandlers, type WebSocketMessages } from './web-socket-upgrades.ts';
export {
  leafsOf,
  ServerCertificates,
  type ServedLeaf,
  type ServerTls,
  type TlsVersion,
  type TlsVersions,
} from './server-certificates.ts';
export { validityOf, certificatesOfPem, checkPeerChain, issuersOf } from './certificate-chain.ts';
export {
  decodeClientHello,
  MAX_CLIENT_HELLO_BYTES,
  type ClientHelloOutcome,
} from './client-hello-decoder.ts';
export { connectThroughProxy, type HttpProxy } from './proxy-connect.ts';
export {
  acceptMemoryChannel,
  openMemoryChannel,
  type ChannelOpener,
  type MemoryPeer,
} from './channel/memory-driver.ts';
export { fingerprintOf, leafOf } from './channel/peer-certificate.ts';
export {
  EgressClient,
  type EgressAnswer,
  type EgressClientOptions,
  type EgressRequest,
  type EgressLookup,
} from './egress-client.ts';
export { readDirectly } from './direct-reading.ts';
export { decodeBackup, verifiedBackup, type BackupEnd } from './compressed-backup.ts';
export { replaceFileDurably, writeFileDurably } from './durable-file.ts';
export { copyAside, setAside, setAsideAtOnce } from './set-aside.ts';
export { AnsweringAddresses } from './answering-addresses.ts';
export {
  contain,
  connectionFrom,
  containedExceptions,
  containSocket,
  failAlone,
  inOwnScope,
  mapAlone,
  uncaughtListener,
  type Contained,
  type ContainedKind,
} from './containment.ts';
export { isOpenToOthers, readPrivateFile, type PrivateFile } from './private-file.ts';
export { systemLookup, type HostLookup } from './host-lookup.ts';
export { NameRecordLookups, type NameRecords } from './name-records.ts';
export { areDnsServers, txtRecordsOf, type DnsServers, type TxtAnswer } from './txt-records.ts';
export { probeAddresses, probePort, probeTls, type PortProbe, type TlsProbe } from './probe.ts';
export { loadIdentityFile, saveIdentityFile, type IdentityFile } from './identity-file.ts';
export {
  JsonClient,
  type JsonAnswer,
  type JsonClientOptions,
  type JsonRequest,
  isRepeatable,
  type StreamAnswer,
} from './json-client.ts';
export {
  BodyIntake,
  BodyRefusal,
  checkStatedLength,
  continueWhenRead,
  hasBody,
  type BodyAllowance,
  type BodyLimits,
} from './body-intake.ts';
export { UnprovenConnections, type UnprovenLimits } from './unproven-connections.ts';
export {
  createApiServer,
  endUnfinishedHandshakes,
  type ApiServerLimits,
  type ServerKeyPair,
} from './http-server.ts';
export { TLS_CIPHERS, TLS_MIN_VERSION } from './tls-policy.ts';
export { fetchServedCertificate } from './served-certificate.ts';
export { QuietLog } from './quiet-log.ts';
export { SummedLog } from './summed-log.ts';
export { isDescriptorShortage, watchDescriptors } from './descriptor-watch.ts';
export { descriptorLimit } from './descriptor-limit.ts';
export { createHttpServer, httpRequest, STATUS_CODES } from './node-http.ts';
export { openTextEndpoint, type TextEndpoint, type TextEndpointOptions } from './text-endpoint.ts';
export { ProgramHealth, type Readiness, type ReadinessCheck } from './metrics/health.ts';
export { writeBuildInformation } from './metrics/build-information.ts';
export { writeProcessMetrics } from './metrics/process-metrics.ts';
export { certificateExpiries, type NamedCertificate } from './metrics/certificate-expiry.ts';
export { Exposition, EXPOSITION_TYPE, type Labels, type SummaryReading } from './metrics/exposition.ts';
export {
  metricsText,
  openMetricsEndpoint,
  type MetricsAddress,
  type MetricsWriter,
} from './metrics/metrics-endpoint.ts';
export { systemAnchors } from './trust-anchors.ts';
export { memoryShares } from './memory-shares.ts';
export { waitAtMost } from './wait-at-most.ts';
export { dialFailure, dialTimeoutMs, type DialLimits } from './dial-outcome.ts';
export { SERVICE_SOCKET_OPTIONS, whenEstablished } from './service-socket.ts';
