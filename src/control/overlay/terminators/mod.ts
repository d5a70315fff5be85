/** The rows of terminators. What chooses among them and measures them is inside the overlay. */
export {
  type FabricTerminator,
  changeFabricTerminator,
  createFabricTerminator,
  deleteFabricTerminators,
  lockFabricTerminator,
} from './fabric-terminator-store.ts';
export { FabricTerminatorWriter } from './fabric-terminator-writer.ts';
export {
  type ManagedTerminator,
  deleteManagedTerminator,
  findManagedTerminators,
  insertManagedTerminator,
  managedTerminatorsAfter,
  updateManagedTerminator,
} from './managed-terminator-store.ts';
export {
  type ServiceTerminator,
  type StoredTerminator,
  changeHostedTerminator,
  countEdgeTerminators,
  deleteHostedTerminator,
  hostedEdgeTerminators,
  terminatorsOfService,
} from './terminator-store.ts';
