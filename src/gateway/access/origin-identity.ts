/**
 * Identity headers for origins: header lines about the caller, and a signed token for origins that do not trust
 * headers. Tokens are ES256, last five minutes and have one audience, the share's address. The public keys are at
 * `https://oauth.<zone>`.
 */
import { createPrivateKey, sign, type KeyObject } from 'node:crypto';
import { messageOf, type Log } from '#base';
import type { CallerIdentity } from '#domain/access';
import type { GatewayKeys } from '#domain/gateway-shapes';
import type { GatewayHost } from '../circuits/upstream.ts';

const LIFE_S = 300;
/** Tokens begin earlier by this time, so that origins with slow clocks accept them. */
const EARLY_S = 60;
/** Limits the header, because some origins accept only small heads. */
const MAX_GROUPS_BYTES = 3_072;

/** The caller as origins see it. */
export interface OriginCaller {
  readonly identity: CallerIdentity;
  /** '' if there is none. */
  readonly providerName: string;
  endsAtMs(host: GatewayHost): number | undefined;
}

interface SigningKey {
  readonly header: string;
  readonly key: KeyObject;
}

export interface OriginLines {
  /** Header lines with their line ends. */
  readonly lines: string;
  /** When the lines must be renewed, in Unix milliseconds. */
  readonly renewAtMs: number;
}

export class OriginIdentity {
  readonly #log: Log;
  #signing: SigningKey | undefined;
  #published = JSON.stringify({ keys: [] });

  constructor(log: Log) {
    this.#log = log;
  }

  get canSign(): boolean {
    return this.#signing !== undefined;
  }

  /** A JWK set. */
  get published(): string {
    return this.#published;
  }

  setKeys({ identityKeys }: GatewayKeys): void {
    this.#published = JSON.stringify({
      keys: identityKeys.map(({ kid, publicJwk }) => ({ ...publicJwk, kid, alg: 'ES256', use: 'sig' })),
    });
    this.#signing = undefined;
    const [newest] = identityKeys;
    if (newest === undefined) return;
    try {
      const header = encoded({ alg: 'ES256', typ: 'JWT', kid: newest.kid });
      this.#signing = { header, key: createPrivateKey(newest.privateKey) };
    } catch (error) {
      this.#log.error({ hop: 'control', cause: messageOf(error) }, 'identity key cannot be read');
    }
  }

  linesOf(caller: OriginCaller, host: GatewayHost, nowMs: number): OriginLines {
    const { identity, providerName } = caller;
    const endsAtMs = caller.endsAtMs(host);
    let lines = '';
    if (identity.kind === 'session' || identity.kind === 'token') {
      lines += `zrok-auth-provider: ${headerText(providerName)}\r\n`;
      if (identity.email !== null) lines += `zrok-auth-email: ${headerText(identity.email)}\r\n`;
      if (endsAtMs !== undefined) lines += `zrok-auth-expires: ${timeText(endsAtMs)}\r\n`;
    }
    lines += `Frontdoor-Identity: ${this.#token(identity, providerName, host, nowMs)}\r\n`;
    return { lines, renewAtMs: nowMs + (LIFE_S * 1_000) / 2 };
  }

  #token(identity: CallerIdentity, providerName: string, host: GatewayHost, nowMs: number): string {
    const signing = this.#signing;
    if (signing === undefined) throw new Error('there is no key to sign identities with');
    const { subject, email, name, groups, kind } = identity;
    const iat = Math.floor(nowMs / 1_000);
    const isSmall = Buffer.byteLength(JSON.stringify(groups)) <= MAX_GROUPS_BYTES;
    const payload = encoded({
      iss: `https://${host.loginHost}`,
      aud: `https://${host.host}`,
      sub: subject,
      ...(email === null ? {} : { email }),
      ...(name === null ? {} : { name }),
      ...(groups.length === 0 || !isSmall ? {} : { groups }),
      ...(isSmall ? {} : { groups_omitted: true }),
      ...(providerName === '' ? {} : { provider: providerName }),
      kind,
      iat,
      nbf: iat - EARLY_S,
      exp: iat + LIFE_S,
    });
    const signed = `${signing.header}.${payload}`;
    const signature = sign('sha256', Buffer.from(signed), { key: signing.key, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  }
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** Encodes text as UTF-8 in a Latin-1 string, which heads use. The result cannot end a line. */
function headerText(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what this is about
  return Buffer.from(text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ').trim()).toString(
    'latin1',
  );
}

/** RFC 3339 in whole seconds. */
function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
