/**
 * The stream of `GET /gateway/v1/shares`: one JSON object a line. A snapshot first (or the deltas since the version
 * that the gateway named), then deltas whose version is the last one plus one, and heartbeats in between. Commands
 * have no version: they are for the gateway that hears them, now or never.
 */
import type { AccessRules } from './access/access-rules.ts';
import type { AuthProviderType } from './auth-provider-type.ts';

export interface GatewayShare {
  /** The overlay's service id: what a gateway dials. */
  readonly id: string;
  readonly token: string;
  /** Lower-case host names under which the share is served: `<token>.<zone>`. */
  readonly hosts: readonly string[];
  /** Who guards it at `hosts`: one of them must let a caller in; none: everybody may come. */
  readonly authProviderIds: readonly string[];
  /** Names below custom frontends, with the providers that guard it there. */
  readonly customHosts: readonly GatewayCustomHost[];
  /** Null: none but the providers. */
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

/** What of its requests is recorded for the owner. */
export interface GatewayInspection {
  /** Of each body, request and answer; 0: none. */
  readonly maxBodyBytes: number;
  /** Unix milliseconds: it ends by itself. */
  readonly untilMs: number;
}

export interface GatewayProvider {
  readonly id: string;
  readonly frontdoorId: string;
  readonly name: string;
  readonly type: AuthProviderType;
  readonly enabled: boolean;
  /** Counts changes of what it proves: log-ins of another version are over. */
  readonly version: number;
  /** Of an API_KEY provider. */
  readonly apiKeys: GatewayApiKeys | null;
  /** Of a provider whose tokens are taken from machines; null also while its keys cannot be fetched. */
  readonly tokens: GatewayTokenIssuer | null;
  /** Where people log out at the provider too; absent: it has no such place, or it is not known. */
  readonly logout?: GatewayProviderLogout;
}

export interface GatewayProviderLogout {
  /** As the provider publishes it: `end_session_endpoint`. */
  readonly endpoint: string;
  readonly clientId: string;
}

export interface GatewayApiKeys {
  readonly placement: 'header' | 'query' | 'bearer';
  /** Of the header or parameter; '' for bearer. */
  readonly name: string;
  readonly keys: readonly {
    readonly name: string;
    /** HMAC-SHA-256 under `GatewayKeys.apiKeyPepper`, lower-case hex. */
    readonly hmac: string;
    readonly expiresAtMs: number | null;
  }[];
}

export interface GatewayTokenIssuer {
  readonly issuer: string;
  readonly audience: string;
  /** Asymmetric ones only. */
  readonly algorithms: readonly string[];
  /** Public JWKs. */
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

/** Secrets of the gateways of one installation: in memory only, never in the kept file. */
export interface GatewayKeys {
  /** Base64. */
  readonly apiKeyPepper: string;
  /** Signs what origins are told of callers; the newest first signs, all are published. */
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
  /** Names one run of the control plane: versions compare only within it. */
  readonly epoch: string;
  readonly shares: readonly GatewayShare[];
  readonly providers: readonly GatewayProvider[];
  /** Every zone and custom frontend's hostname: `oauth.<zone>` takes log-ins in. */
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
  /** Ids of sessions that are over. */
  readonly endedSessions?: readonly string[];
  /** All of them. */
  readonly zones?: readonly string[];
  readonly keys?: GatewayKeys;
}

export interface GatewayHeartbeat {
  readonly type: 'heartbeat';
}

/** Send a recorded request to the share once more, and report what came of it as an inspected request. */
export interface GatewayReplay {
  readonly type: 'replay';
  /** Of the record that it makes. */
  readonly id: string;
  /** Of the recorded one. */
  readonly replayOf: string;
  readonly shareId: string;
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  /** Base64. */
  readonly body: string;
}

export type GatewayFeedEvent = GatewaySnapshot | GatewayDelta | GatewayHeartbeat | GatewayReplay;

/** A heartbeat comes this often; three missing ones mean that the stream is dead. */
export const GATEWAY_FEED_HEARTBEAT_MS = 5_000;

/** Without a word of the control plane for so long, nobody's identity is believed any more. */
export const GATEWAY_TRUST_MS = 60_000;
