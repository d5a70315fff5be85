/** The overlay's rows: identities, certificates, enrollments, routers, services, terminators and entities. */
export { insertCertificate, overdueCertificates } from './certificate-store.ts';
export {
  type EdgeEntityRecord,
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
  type Enrollment,
  type EnrollmentKind,
  MAX_REFUSED_CSRS,
  claimEnrollment,
  createEnrollment,
  findByCode,
  findByToken,
  mintJti,
  pruneEnrollments,
  refuseCsr,
} from './enrollment-store.ts';
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
  type FabricTerminator,
  changeFabricTerminator,
  createFabricTerminator,
  deleteFabricTerminators,
  lockFabricTerminator,
} from './fabric-terminator-store.ts';
export { FabricTerminatorWriter } from './fabric-terminator-writer.ts';
export {
  type IdentityClient,
  UNKNOWN_CLIENT,
  findIdentityClient,
  identityClients,
  putIdentityClient,
} from './identity-client-store.ts';
export { writeCallerUses, writeIdentityUses } from './last-use-store.ts';
export {
  type ManagedTerminator,
  deleteManagedTerminator,
  findManagedTerminators,
  insertManagedTerminator,
  managedTerminatorsAfter,
  updateManagedTerminator,
} from './managed-terminator-store.ts';
export {
  type ManagementSession,
  endManagementSession,
  extendManagementSession,
  findAdministratorSession,
  openManagementSession,
} from './management-session-store.ts';
