/**
 * Log-ins between gateways and the control plane, over the edge API with the gateway's certificate: the gateway
 * serves the browser; the control plane talks to the identity provider and keeps attempts and sessions. `POST
 * /gateway/v1/logins/start`, `/callback`, `/redeem`, `/gateway/v1/sessions/find`, `/end`, `/gateway/v1/usage`.
 */
import type { CallerIdentity } from './access/caller-identity.ts';

/** A browser without a session requested a share and is about to log in with this provider. */
export interface LoginStart {
  readonly shareId: string;
  /** The canonical host of the request. `oauth.<zone>` of the same zone receives the callback. */
  readonly host: string;
  /** Port of the gateways' HTTPS, as browsers see it. */
  readonly port: number;
  readonly providerId: string;
  /** Target after the log-in: a path with its query, starting with one slash. */
  readonly returnTo: string;
  /** SHA-256 of the cookie that binds the attempt to its browser, in base64url. */
  readonly browser: string;
  readonly address: string;
}

/** The identity provider redirected the browser to `https://oauth.<zone>/<providerId>/auth/callback`. */
export interface LoginCallback {
  /** `oauth.<zone>`. */
  readonly host: string;
  readonly providerId: string;
  /** Query parameters. A repeated one makes the whole callback invalid. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly address: string;
}

/** The share received the one-time code from the same browser. */
export interface LoginRedemption {
  readonly shareId: string;
  readonly host: string;
  readonly code: string;
  /** The same value as at the start. */
  readonly browser: string;
}

export interface LoginRefusal {
  readonly type: 'refused';
  readonly reason: LoginRefusalReason;
}

/** Why a log-in cannot continue. The gateway has a text for each. */
export type LoginRefusalReason =
  /** The provider is disabled or does not belong (any more) to the share. */
  | 'provider-not-available'
  /** Its endpoints cannot be reached or send unexpected responses. */
  | 'provider-failed'
  /** The attempt is unknown, used, expired, or belongs to another browser. */
  | 'attempt-not-valid'
  /** The person or the provider refused. */
  | 'denied'
  /** A verified e-mail address is required and missing. */
  | 'email-not-verified'
  | 'too-many';

export type LoginStarted = { readonly type: 'redirect'; readonly url: string } | LoginRefusal;
/** Redirects to `https://<share>/.frontdoor/login?code=…`. */
export type LoginReturned = { readonly type: 'redirect'; readonly url: string } | LoginRefusal;
export type LoginRedeemed =
  | {
      readonly type: 'session';
      /** The cookie's value: 256 random bits in base64url. */
      readonly token: string;
      readonly session: GatewaySession;
      readonly returnTo: string;
    }
  | LoginRefusal;

export interface GatewaySession {
  readonly id: string;
  readonly shareId: string;
  /** In canonical form. */
  readonly host: string;
  readonly providerId: string;
  /** The provider's version when the session was made. */
  readonly providerVersion: number;
  readonly identity: CallerIdentity;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
}

export interface SessionQuery {
  readonly token: string;
}
export interface SessionFound {
  /** Null if there is no such session, or it has ended. */
  readonly session: GatewaySession | null;
}

/** Keys and sessions that gateways used since the last report; at most `MAX_USAGE_ENTRIES` of each. */
export interface GatewayUsage {
  readonly keys: readonly {
    readonly providerId: string;
    readonly name: string;
    readonly lastUsedAtMs: number;
  }[];
  readonly sessions: readonly { readonly id: string; readonly lastUsedAtMs: number }[];
  /** Hostnames of all custom frontends for whose shares this gateway has a certificate. */
  readonly certifiedZones: readonly string[];
}

export const MAX_USAGE_ENTRIES = 10_000;
/** Time from the callback to the redemption at the share. */
export const LOGIN_CODE_TTL_MS = 30_000;
/** Time from the start to the callback. */
export const LOGIN_ATTEMPT_TTL_MS = 600_000;
