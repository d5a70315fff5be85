/**
 * The stream of `GET /gateway/v1/shares`: one JSON object per line. It begins with a snapshot, or with the deltas
 * since the version that the gateway sent; then deltas whose versions increase by one, with heartbeats in
 * between. Commands have no version, and only gateways that are connected receive them.
 */
import type { AccessRules } from './access/access-rules.ts';
import type { AuthProviderType } from './auth-provider-type.ts';

export interface GatewayShare {
  /** The overlay's service id, which gateways dial. */
  readonly id: string;
  readonly token: string;
  /** Lower-case host names under which the share is served: `<token>.<zone>`. */
  readonly hosts: readonly string[];
  /** Providers that guard it at `hosts`. One of them must admit the caller; if there are none, everyone is admitted. */
  readonly authProviderIds: readonly string[];
  /** Names below custom frontends, with the providers that guard the share there. */
  readonly customHosts: readonly GatewayCustomHost[];
  /** Null: there are no rules besides the providers. */
  readonly rules: AccessRules | null;
  /** Null: its requests are not recorded. */
  readonly inspection: GatewayInspection | null;
  readonly frontdoorId: string;
  readonly environmentId: string;
  readonly updatedAtMs: number;
}

export interface GatewayCustomHost {
  readonly host: string;
  readonly authProviderIds: readonly string[];
}

/** The part of its requests that is recorded for the owner. */
export interface GatewayInspection {
  /** Limit for each request and response body; 0: none is recorded. */
  readonly maxBodyBytes: number;
  /** When recording ends, in Unix milliseconds. */
  readonly untilMs: number;
}

export interface GatewayProvider {
  readonly id: string;
  readonly frontdoorId: string;
  readonly name: string;
  readonly type: AuthProviderType;
  readonly enabled: boolean;
  /** Incremented when the identities that it proves change. Log-ins of another version have ended. */
  readonly version: number;
  /** Set for an API_KEY provider. */
  readonly apiKeys: GatewayApiKeys | null;
  /** Set for a provider whose tokens are accepted from machines; null also while its keys cannot be fetched. */
  readonly tokens: GatewayTokenIssuer | null;
  /** Where people log out at the provider too; absent if there is no such endpoint, or it is not known. */
  readonly logout?: GatewayProviderLogout;
}

export interface GatewayProviderLogout {
  /** The provider's `end_session_endpoint`. */
  readonly endpoint: string;
  readonly clientId: string;
}

export interface GatewayApiKeys {
  readonly placement: 'header' | 'query' | 'bearer';
  /** Name of the header or parameter; '' for bearer. */
  readonly name: string;
  readonly keys: readonly {
    readonly name: string;
    /** HMAC-SHA-256 under `GatewayKeys.apiKeyPepper`, in lower-case hex. */
    readonly hmac: string;
    readonly expiresAtMs: number | null;
  }[];
}

export interface GatewayTokenIssuer {
  readonly issuer: string;
  readonly audience: string;
  /** Asymmetric algorithms only. */
  readonly algorithms: readonly string[];
  /** Public JWKs. */
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

/** Secrets of the gateways of one installation, kept in memory only and never in the kept file. */
export interface GatewayKeys {
  /** Base64. */
  readonly apiKeyPepper: string;
  /** Keys for the identity headers to origins. The first one, the newest, signs; all are published. */
  readonly identityKeys: readonly {
    readonly kid: string;
    /** PKCS#8 PEM, P-256. */
    readonly privateKey: string;
    readonly publicJwk: Readonly<Record<string, unknown>>;
  }[];
}

export interface GatewaySnapshot {
  readonly type: 'snapshot';
  readonly version: number;
  /** Identifies one run of the control plane. Versions are comparable only within it. */
  readonly epoch: string;
  readonly shares: readonly GatewayShare[];
  readonly providers: readonly GatewayProvider[];
  /** Every zone and custom frontend hostname. Log-ins return to `oauth.<zone>`. */
  readonly zones: readonly string[];
  readonly keys: GatewayKeys;
}

export interface GatewayDelta {
  readonly type: 'delta';
  readonly version: number;
  readonly set: readonly GatewayShare[];
  /** Service ids. */
  readonly removed: readonly string[];
  readonly providers?: readonly GatewayProvider[];
  readonly removedProviders?: readonly string[];
  /** Ids of sessions that have ended. */
  readonly endedSessions?: readonly string[];
  /** The complete list. */
  readonly zones?: readonly string[];
  readonly keys?: GatewayKeys;
}

export interface GatewayHeartbeat {
  readonly type: 'heartbeat';
}

/** Asks the gateway to repeat a recorded request to the share and to report the result as an inspected request. */
export interface GatewayReplay {
  readonly type: 'replay';
  /** Id of the new record. */
  readonly id: string;
  /** Id of the recorded request. */
  readonly replayOf: string;
  readonly shareId: string;
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  /** Base64. */
  readonly body: string;
}

export type GatewayFeedEvent = GatewaySnapshot | GatewayDelta | GatewayHeartbeat | GatewayReplay;

/** Interval of heartbeats. After three missing ones the stream is dead. */
export const GATEWAY_FEED_HEARTBEAT_MS = 5_000;

/** After this time without a message from the control plane, no identity is trusted any more. */
export const GATEWAY_TRUST_MS = 60_000;
