/** The overlay's rows: identities, certificates, routers, services, terminators and entities. */
export {
  certificatesOf,
  certificatesOfAuthority,
  certificatesOfEdgeIdentities,
  deleteCertificate,
  deleteCertificatesOfAuthority,
  expiredCertificates,
  expiringCertificates,
  hasValidCertificate,
  insertCertificate,
  isCertificateKnown,
  overdueCertificates,
} from './certificate-store.ts';
export type { EdgeEntityRecord } from './edge-entity.ts';
export {
  MAX_EDGE_ENTITIES,
  deleteEdgeEntity,
  edgeEntitiesNaming,
  findEdgeEntities,
  findEdgeEntity,
  findEdgeIdentityByExternalId,
  insertEdgeEntity,
  insertEdgeIdentity,
  isEdgeNameTaken,
  lockEdgeEntities,
  mayTunnelFor,
  updateEdgeEntity,
} from './edge-entity-store.ts';
export {
  type FabricServiceRecord,
  changeFabricService,
  createFabricService,
  deleteFabricService,
  findFabricService,
  listFabricServices,
  lockFabricService,
} from './fabric-service-store.ts';
export {
  type FabricKind,
  type FabricNode,
  type NewFabricNode,
  changeFabricRouter,
  createFabricNode,
  deleteFabricNode,
  findFabricNode,
  listFabricNodes,
} from './fabric-store.ts';
export {
  changeAgentVersion,
  deleteEdgeIdentity,
  deleteEnvironmentIdentity,
  environmentsOf,
  existingIdentities,
  findIdentity,
  ownersOfEnvironments,
  identitiesOfKind,
  insertIdentity,
  lockIdentity,
  renameIdentity,
} from './identity-store.ts';
export {
  type IdentityClient,
  UNKNOWN_CLIENT,
  findIdentityClient,
  identityClients,
  putIdentityClient,
} from './identity-client-store.ts';
export { writeIdentityUses } from './last-use-store.ts';
export { cutOffByNextStep, dropFormerCertificates, noteRootReceipt } from './root-receipt-store.ts';
export {
  type FabricTerminator,
  type ManagedTerminator,
  type ServiceTerminator,
  type StoredTerminator,
  changeFabricTerminator,
  changeHostedTerminator,
  countEdgeTerminators,
  createFabricTerminator,
  deleteFabricTerminators,
  deleteHostedTerminator,
  deleteManagedTerminator,
  hostedEdgeTerminators,
  insertManagedTerminator,
  lockFabricTerminator,
  managedTerminators,
  terminatorsOfService,
  updateManagedTerminator,
} from '../records/terminator-store.ts';
