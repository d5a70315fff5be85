/**
 * The enrollment token as OpenZiti defines it: signed with RS256 by the key of the certificate that the edge API
 * uses for TLS, so that the token also pins the server.
 */
import { sign, type KeyObject } from 'node:crypto';

export interface EnrollmentClaims {
  /** `https://host:port` of the edge API, without a path. */
  readonly issuer: string;
  /** Id of the new identity or router. */
  readonly subject: string;
  /** The one-time token that `/enroll` accepts. */
  readonly jti: string;
  readonly method: 'ott' | 'ottca' | 'ca' | 'erott' | 'trott' | 'updb';
  /** Undefined for the token of an authority, which any number of clients may use. */
  readonly expiresAtMs: number | undefined;
  /** Control channel addresses (`tls:host:port`), for routers. */
  readonly controlAddresses: readonly string[];
}

export function signEnrollmentJwt(claims: EnrollmentClaims, key: KeyObject, keyId: string): string {
  const body = {
    iss: claims.issuer,
    sub: claims.subject,
    aud: [''],
    exp: claims.expiresAtMs === undefined ? undefined : Math.floor(claims.expiresAtMs / 1000),
    jti: claims.jti,
    em: claims.method,
    ctrls: claims.controlAddresses,
  };
  return signed(body, key, keyId);
}

/** A token that only pins the server, for clients that log in without an enrollment. It does not expire. */
export function signNetworkJwt(issuer: string, id: string, key: KeyObject, keyId: string): string {
  return signed({ iss: issuer, sub: issuer, aud: [''], jti: id, em: 'network' }, key, keyId);
}

function signed(body: unknown, key: KeyObject, keyId: string): string {
  const text = `${base64Url({ alg: 'RS256', kid: keyId, typ: 'JWT' })}.${base64Url(body)}`;
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

function base64Url(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
