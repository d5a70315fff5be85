/**
 * Log-ins between gateways and the control plane, over the edge API with the gateway's certificate: the gateway meets
 * the browser, the control plane meets the identity provider and keeps attempts and sessions.
 * `POST /gateway/v1/logins/start`, `/callback`, `/redeem`, `/gateway/v1/sessions/find`, `/end`, `/gateway/v1/usage`.
 */
import type { CallerIdentity } from './access/caller-identity.ts';

/** A browser without a session came to a share and is to log in with this provider. */
export interface LoginStart {
  readonly shareId: string;
  /** The canonical host that it came to; `oauth.<zone>` of the same zone takes the answer. */
  readonly host: string;
  /** Of the gateways' HTTPS, as browsers see it. */
  readonly port: number;
  readonly providerId: string;
  /** Where to go afterwards: a path with its query, starting with one slash. */
  readonly returnTo: string;
  /** SHA-256 of the cookie that binds the attempt to its browser, base64url. */
  readonly browser: string;
  readonly address: string;
}

/** The identity provider sent the browser back to `https://oauth.<zone>/<providerId>/auth/callback`. */
export interface LoginCallback {
  /** `oauth.<zone>`. */
  readonly host: string;
  readonly providerId: string;
  /** Of the query: each at most once, or the whole is refused. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly address: string;
}

/** The one-time code came to the share, from the same browser. */
export interface LoginRedemption {
  readonly shareId: string;
  readonly host: string;
  readonly code: string;
  /** As at the start. */
  readonly browser: string;
}

export interface LoginRefusal {
  readonly type: 'refused';
  readonly reason: LoginRefusalReason;
}

/** Why a log-in goes no further; the gateway has words for each. */
export type LoginRefusalReason =
  /** The provider is disabled or not (any more) one of the share's. */
  | 'provider-not-available'
  /** Its endpoints cannot be reached or answer wrongly. */
  | 'provider-failed'
  /** Attempt unknown, used, expired, or of another browser. */
  | 'attempt-not-valid'
  /** The person said no, or the provider did. */
  | 'denied'
  /** No verified e-mail, where one is needed. */
  | 'email-not-verified'
  | 'too-many';

export type LoginStarted = { readonly type: 'redirect'; readonly url: string } | LoginRefusal;
/** To `https://<share>/.frontdoor/login?code=…`. */
export type LoginReturned = { readonly type: 'redirect'; readonly url: string } | LoginRefusal;
export type LoginRedeemed =
  | {
      readonly type: 'session';
      /** The cookie's value: 256 random bits, base64url. */
      readonly token: string;
      readonly session: GatewaySession;
      readonly returnTo: string;
    }
  | LoginRefusal;

export interface GatewaySession {
  readonly id: string;
  readonly shareId: string;
  /** Canonical. */
  readonly host: string;
  readonly providerId: string;
  /** The provider's version when it was made. */
  readonly providerVersion: number;
  readonly identity: CallerIdentity;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
}

export interface SessionQuery {
  readonly token: string;
}
export interface SessionFound {
  /** Null: there is none, or it is over. */
  readonly session: GatewaySession | null;
}

/** What gateways used since they last told; at most `MAX_USAGE_ENTRIES` of each. */
export interface GatewayUsage {
  readonly keys: readonly {
    readonly providerId: string;
    readonly name: string;
    readonly lastUsedAtMs: number;
  }[];
  readonly sessions: readonly { readonly id: string; readonly lastUsedAtMs: number }[];
  /** Hostnames of custom frontends for whose shares this gateway has a certificate, all of them. */
  readonly certifiedZones: readonly string[];
}

export const MAX_USAGE_ENTRIES = 10_000;
/** From the callback to the share. */
export const LOGIN_CODE_TTL_MS = 30_000;
/** From the start to the callback. */
export const LOGIN_ATTEMPT_TTL_MS = 600_000;
