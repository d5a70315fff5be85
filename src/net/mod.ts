export { TlsPort, type ChannelPort, type TlsHandlerOptions, type TlsPortOptions } from './tls-port.ts';
export { TlsPasser } from './tls-passer.ts';
export { TlsPorts } from './tls-ports.ts';
export { listenFailure, listenOn, portOf } from './listen-on.ts';
export { waitingResourcesText } from './waiting-resources.ts';
export {
  leafsOf,
  ServerCertificates,
  type ServedLeaf,
  type ServerTls,
  type TlsVersion,
  type TlsVersions,
} from './server-certificates.ts';
export {
  validityOf,
  certificatesOfPem,
  checkPeerChain,
  isCertificateList,
  issuersOf,
} from './certificate-chain.ts';
export {
  decodeClientHello,
  MAX_CLIENT_HELLO_BYTES,
  type ClientHello,
  type ClientHelloOutcome,
} from './client-hello-decoder.ts';
export { dialerThrough, directDialer, OutwardDialer, outwardDialerOf } from './outward/outward-dialer.ts';
export { proxyText } from './outward/proxy-choice.ts';
export { encodeProxyHeader } from './proxy-header-encoder.ts';
export {
  decodeProxyHeader,
  MAX_PROXY_HEADER_BYTES,
  type ProxyHeaderOutcome,
} from './proxy-header-decoder.ts';
export type { EgressLookup, EgressRules } from './egress-address.ts';
export {
  EgressClient,
  type EgressAnswer,
  type EgressClientOptions,
  type EgressRequest,
} from './egress-client.ts';
export { writeToEgress, type EgressWriterOptions } from './egress-writer.ts';
export { readDirectly } from './direct-reading.ts';
export {
  contain,
  connectionFrom,
  containedExceptions,
  containSocket,
  failAlone,
  inOwnScope,
  mapAlone,
  readAlone,
  uncaughtListener,
  type Contained,
  type ContainedKind,
} from './containment.ts';
export { probeAddresses, probePort, probeTls, type PortProbe, type TlsProbe } from './probe.ts';
export { UnprovenConnections, type UnprovenLimits } from './unproven-connections.ts';
export { TLS_CIPHERS, TLS_MIN_VERSION } from './tls-policy.ts';
export { fetchServedCertificate } from './served-certificate.ts';
export { QuietLog } from './quiet-log.ts';
export { SummedLog } from './summed-log.ts';
export { isDescriptorShortage, watchDescriptors } from './descriptor-watch.ts';
export { descriptorLimit } from './descriptor-limit.ts';
export { systemAnchors } from './trust-anchors.ts';
export { memoryShares } from './memory-shares.ts';
export { waitAtMost } from './wait-at-most.ts';
export { dialFailure, dialTimeoutMs, type DialLimits } from './dial-outcome.ts';
export { SERVICE_SOCKET_OPTIONS, whenEstablished } from './service-socket.ts';
