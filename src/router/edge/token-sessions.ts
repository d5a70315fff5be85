/**
 * Opens sessions of SDKs that log in with OIDC. Such a session is valid while its token is, while no revocation
 * concerns it, and while the data model has its identity. A channel can arrive before the model does, so it waits for
 * a short time.
 */
import { addressKey } from '#base';
import { MAX_POSTURE_BYTES } from '#domain/posture';
import { sdkMessages, type PostureResponses } from '#wire/ctrl';
import type { KnownApiSession } from '../ctrl/api-session-registry.ts';
import type { DataModel } from '../model/data-model.ts';
import { isRevoked } from '../model/token-revocations.ts';
import { isFault, type AccessToken, type ControllerTokens, type TokenFault } from './controller-tokens.ts';
import { KnownPostures } from './known-postures.ts';
import { TokenSession, type CertifiedPeer } from './token-session.ts';

export interface TokenSessionsOptions {
  readonly tokens: ControllerTokens;
  readonly model: DataModel;
  /** Returns the sessions of open channels. */
  open(): Iterable<KnownApiSession>;
}

export interface SessionFault {
  readonly fault: string;
  /** True if the session is valid, but belongs to another certificate. */
  readonly isOfAnother: boolean;
}

const MAX_WAITERS = 4_096;
/** Tokens of one address that are checked or wait at once. A whole site may share one address. */
const MAX_CHECKED_PER_ADDRESS = 128;
const SESSION_NAME =
  /(?:^|, )URI:spiffe:\/\/[^/,]+\/identity\/([^/,]+)\/apiSession\/([^/,]+)(?:\/apiSessionCertificate\/[^/,]+)?(?:,|$)/;

export class TokenSessions {
  readonly #options: TokenSessionsOptions;
  /** Numbers of tokens that are checked or wait, by address. */
  readonly #checked = new Map<string, number>();
  readonly #postures = new KnownPostures();
  #waiterCount = 0;

  constructor(options: TokenSessionsOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async open(token: string, peer: CertifiedPeer, timeoutMs: number): Promise<TokenSession | SessionFault> {
    const access = await this.#limited(peer.address, () => this.#verified(token, timeoutMs));
    if (isFault(access)) return { fault: access.fault, isOfAnother: false };
    if (!isOwnCertificate(access, peer))
      return { fault: `certificate is not that of session ${access.sessionId}`, isOfAnother: true };
    return new TokenSession(access, peer, this.#postures.of(access));
  }

  /** Returns why an open session is over, or undefined while it is valid. */
  faultOf({ access }: TokenSession): string | undefined {
    return this.#stateFault(access)?.fault;
  }

  /**
   * Replaces the token of a session, at all of its open channels. Returns the reason of a refusal, or undefined. Never
   * rejects.
   */
  async renew(session: TokenSession, token: string): Promise<string | undefined> {
    const access = await this.#verified(token, 0);
    if (isFault(access)) return access.fault;
    if (access.sessionId !== session.id || access.identityId !== session.identityId)
      return 'the token is of another session';
    if (!isOwnCertificate(access, session.peer)) return 'the token is of another certificate';
    session.replace(access);
    for (const other of this.#options.open()) {
      if (!(other instanceof TokenSession) || other.id !== session.id) continue;
      if (other.identityId === session.identityId && isOwnCertificate(access, other.peer))
        other.replace(access);
    }
    return undefined;
  }

  /**
   * Keeps the posture that the device of a session reports. A one-time password counts once its token is verified.
   * Returns the reason of a refusal, or undefined. Never rejects.
   */
  async report(session: TokenSession, body: Uint8Array): Promise<string | undefined> {
    const { tokens } = this.#options;
    if (body.length > MAX_POSTURE_BYTES) return 'the report is too long';
    const reported = decodedReport(body);
    if (reported === undefined) return 'the report is malformed';
    const { posture } = session;
    this.#postures.add(session);
    const fault = posture.report(reported, tokens.nowMs());
    const totp = reported.responses.findLast(({ type }) => type.case === 'totpToken')?.type;
    if (fault !== undefined || totp?.case !== 'totpToken') return fault;
    const passedMs = await this.#limited(session.peer.address, () =>
      tokens.verifyTotp(totp.value.token, session.id),
    );
    if (typeof passedMs !== 'number') return passedMs.fault;
    posture.onMfaPassed(passedMs);
    return undefined;
  }

  async #limited<Verified>(
    address: string,
    check: () => Promise<Verified | TokenFault>,
  ): Promise<Verified | TokenFault> {
    const key = addressKey(address.slice(0, address.lastIndexOf(':')));
    const count = this.#checked.get(key) ?? 0;
    if (count >= MAX_CHECKED_PER_ADDRESS)
      return { fault: 'too many tokens of this address are checked now', mayChange: false };
    this.#checked.set(key, count + 1);
    try {
      return await check();
    } finally {
      const left = this.#checked.get(key)! - 1;
      if (left > 0) this.#checked.set(key, left);
      else this.#checked.delete(key);
    }
  }

  async #verified(token: string, timeoutMs: number): Promise<AccessToken | TokenFault> {
    const { tokens, model } = this.#options;
    const deadlineMs = performance.now() + timeoutMs;
    for (;;) {
      // A change that arrives during the check must not be missed.
      const changed = Promise.withResolvers<void>();
      const forget = model.onChanged(changed.resolve);
      try {
        const access = await tokens.verifyAccess(token);
        const fault = isFault(access) ? access : this.#stateFault(access);
        if (fault === undefined) return access;
        const leftMs = deadlineMs - performance.now();
        if (!fault.mayChange || leftMs <= 0 || this.#waiterCount >= MAX_WAITERS) return fault;
        if (!(await this.#isChangedIn(leftMs, changed.promise))) return fault;
      } finally {
        forget();
      }
    }
  }

  /** Resolves with false after `timeoutMs` without a change of the model. */
  async #isChangedIn(timeoutMs: number, changed: Promise<void>): Promise<boolean> {
    this.#waiterCount += 1;
    const late = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => late.resolve(false), timeoutMs);
    try {
      return await Promise.race([changed.then(() => true), late.promise]);
    } finally {
      clearTimeout(timer);
      this.#waiterCount -= 1;
    }
  }

  #stateFault(access: AccessToken): TokenFault | undefined {
    const { model, tokens } = this.#options;
    if (tokens.isOver(access)) return { fault: 'the token has expired', mayChange: false };
    if (isRevoked(model, access)) return { fault: 'the session is revoked', mayChange: false };
    const identity = model.entities('identity').get(access.identityId);
    if (identity?.case !== 'identity')
      return { fault: 'there is no identity as the token names it', mayChange: true };
    if (identity.value.disabled) return { fault: 'the identity is disabled', mayChange: false };
    return undefined;
  }
}

/**
 * The leaf alone counts: tokens name the authority's certificates of the chain, too, which every client has. A
 * certificate that the controller issued for the session names it.
 */
function isOwnCertificate(
  { fingerprints, identityId, sessionId }: AccessToken,
  peer: CertifiedPeer,
): boolean {
  if (fingerprints.includes(peer.fingerprint)) return true;
  const names = peer.certificate?.subjectAltName ?? '';
  // A quoted name could contain what looks like another one.
  const named = names.includes('"') ? null : SESSION_NAME.exec(names);
  return named?.[1] === identityId && named[2] === sessionId && peer.isProven();
}

function decodedReport(body: Uint8Array): PostureResponses | undefined {
  try {
    return sdkMessages.postureResponse.decode(body);
  } catch {
    return undefined;
  }
}
