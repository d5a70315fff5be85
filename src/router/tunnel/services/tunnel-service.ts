/** A service as the router's own identity sees it: its access, its configs, and how it would host it. */
import type { TerminatorPrecedence } from '#wire/ctrl';

export interface TunnelService {
  readonly id: string;
  readonly name: string;
  readonly encryptionRequired: boolean;
  readonly mayDial: boolean;
  readonly mayBind: boolean;
  /** Parsed JSON by name of the config type. Configs of the identity replace those of the service. */
  readonly configs: ReadonlyMap<string, unknown>;
  readonly identity: TunnelIdentity;
  /** Overrides of the identity for this service, which replace what the service's own config sets. */
  readonly hosting: TunnelHosting;
}

/** The router's own identity. */
export interface TunnelIdentity {
  readonly id: string;
  readonly name: string;
  /** Empty if it has none, or none that is an object. */
  readonly appData: Readonly<Record<string, unknown>>;
  /** Used where neither the config of the service nor an override sets a value. */
  readonly defaultHosting: { readonly cost: number; readonly precedence: TerminatorPrecedence };
}

export interface TunnelHosting {
  readonly cost: number | undefined;
  readonly precedence: TerminatorPrecedence | undefined;
}

/** Is notified of services that the identity may dial or bind. */
export interface TunnelServiceListener {
  gained(service: TunnelService): void;
  /** Anything that `TunnelService` contains has changed. */
  changed(service: TunnelService, before: TunnelService): void;
  /** The service was removed, or no policy grants any access to it. */
  lost(service: TunnelService): void;
}
