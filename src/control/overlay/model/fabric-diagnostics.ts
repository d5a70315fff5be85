/** What administrators of the edge management API ask of the mesh, as with OpenZiti. */
import type { FabricValidation } from './fabric-validation.ts';

export interface DiagnosticValue {
  /** The router, or this control plane. */
  readonly routerId: string;
  readonly name: string;
  /** JSON, or text if it is not JSON; absent if there is an error. */
  readonly value?: unknown;
  readonly error?: string;
}

export interface ToggledTraces {
  readonly isSuccess: boolean;
  /** One line for each selected application and channel. */
  readonly text: string;
}

export interface FabricDiagnostics {
  /**
   * Inspects this control plane, under its own id, and connected routers, if their id or name is selected, with a limit of
   * 8 s each.
   */
  inspectSelected(names: readonly string[], selects: (text: string) => boolean): Promise<DiagnosticValue[]>;
  /** Starts or ends traces, which are events. `wish` is the body of TogglePipeTraces. @throws FrontdoorError `protocol` */
  toggleTraces(wish: Uint8Array): Promise<ToggledTraces>;
  readonly validation: FabricValidation;
}
