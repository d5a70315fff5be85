/** The rows of terminators. What chooses among them and measures them is inside the overlay. */
export { FabricTerminatorWriter } from './fabric-terminator-writer.ts';
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
} from './terminator-store.ts';
