/** The share feed's other listener, beside the table of shares: what decides who may come in. */
import type {
  GatewayDelta,
  GatewayProvider,
  GatewaySnapshot,
  GatewayZoneOwner,
} from '#domain/gateway-shapes';

/** What access learns from the share feed, after the share table took the same event. */
export interface AccessFeed {
  replaceAll(snapshot: Omit<GatewaySnapshot, 'type' | 'version' | 'epoch' | 'shares'>): void;
  change(delta: GatewayDelta): void;
  /** A word from the control plane came, of any kind. */
  onContact(): void;
  /** What of it is kept on disk: nothing that proves anything. */
  kept(): {
    readonly providers: readonly GatewayProvider[];
    readonly zones: readonly string[];
    readonly zoneOwners?: readonly GatewayZoneOwner[];
  };
}
