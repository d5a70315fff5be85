/** Comparisons of this control plane with routers that administrators of the edge management API ask for, as with OpenZiti. */
import type { Frame } from '#wire';

export type RouterComparison = 'links' | 'sdkTerminators' | 'tunnelTerminators' | 'circuits' | 'connections';

export interface ComparedRouter {
  readonly id: string;
  readonly name: string;
}

export interface FabricValidation {
  /** Resolves with the result message about the router, also if it is away or does not answer in 8 s. Never rejects. */
  compareRouter(comparison: RouterComparison, router: ComparedRouter): Promise<Frame>;
  /** As `compareRouter`, of the data model that the router has; `fix` gives it a right one if it differs. */
  compareDataModel(router: ComparedRouter, fix: boolean): Promise<Frame>;
  /** The result message about this control plane, whose data model follows from what it stores. */
  ownDataModel(): Frame;
  /**
   * Asks routers for terminators, and yields a result message for each. Those that programs host and that their router does
   * not know are deleted with `fix`.
   */
  validateTerminators(ids: readonly string[], fix: boolean): AsyncIterable<Frame>;
}
