export { AgentApiClient } from './agent-api-client.ts';
export { EdgeApiClient, type EdgeApiClientOptions } from './edge-api-client.ts';
export { CONTROL_PLANES_FILE, KeptControlPlanes } from './kept-control-planes.ts';
export { EdgeConnection, type EdgeConnectionOptions } from './edge-connection.ts';
export { GatewayApiClient, type GatewayFeedSubscription } from './gateway-api-client.ts';
export {
  type EdgeIdentity,
  type EdgeRouterAddress,
  type EdgeService,
  type EdgeSession,
  type EdgeVersion,
  type ServiceSession,
} from './edge-resources.ts';
export {
  makeKeyRequest,
  makeRequestFor,
  type KeyRequest,
  type RequestDetails,
} from './certificate-signing.ts';
export {
  enrollIdentity,
  enrollRouter,
  fetchBootstrapToken,
  type BootstrapOptions,
  type BootstrapToken,
  type EnrolledIdentity,
  type EnrolledRouter,
  type EnrollOptions,
} from './enroll.ts';
export { readEnrollmentToken } from './enrollment-token.ts';
export { renewalAtMs, IdentityRenewal, type IdentityRenewalOptions } from './identity-renewal.ts';
export {
  encryptionWith,
  generateEncryptionKeys,
  sealedPieceBytes,
  type CircuitEncryption,
  type EncryptionKeys,
} from './circuit-encryption.ts';
export { CircuitError, type Circuit, type CircuitErrorCode } from './circuit.ts';
export {
  type BindableService,
  type DialRefusal,
  type HostEncryption,
  type HostedService,
  type HostingState,
  type IncomingDial,
  type OverlayHost,
} from './hosted-service.ts';
export { OverlayClient, type OverlayClientOptions } from './overlay-client.ts';
export { ServiceDirectory } from './service-directory.ts';
export { loadX509, type X509Library } from './x509-library.ts';
export { PRECEDENCE, type TerminatorPrecedence, type TerminatorRank } from './terminator-options.ts';
export { terminatorSecret } from './terminator-secret.ts';
