/** The control plane's half of log-ins for tests: attempts, one-time codes and sessions, scripted and counted. */
import { randomBytes } from 'node:crypto';
import type { CallerIdentity } from '#domain/access';
import {
  sessionFoundShape,
  type GatewaySession,
  type GatewayUsage,
  type LoginCallback,
  type LoginRedeemed,
  type LoginRedemption,
  type LoginRefusalReason,
  type LoginReturned,
  type LoginStart,
  type LoginStarted,
  type SessionQuery,
  type SignInPageQuery,
  type SignInPageShown,
} from '#domain/gateway-shapes';
import type { LoginControl } from '../access/login-control.ts';

interface Code {
  readonly start: LoginStart;
  readonly identity: CallerIdentity;
}

export function personOf(providerId: string, more: Partial<CallerIdentity> = {}): CallerIdentity {
  return {
    providerId,
    kind: 'session',
    subject: 'ann',
    email: 'ann@example.com',
    name: 'Ann',
    groups: ['staff'],
    claims: { department: 'sales' },
    ...more,
  };
}

export class ScriptedControl implements LoginControl {
  readonly starts: LoginStart[] = [];
  readonly callbacks: LoginCallback[] = [];
  readonly usage: GatewayUsage[] = [];
  readonly refreshed: string[] = [];
  readonly sessions = new Map<string, GatewaySession>();
  /** Tokens of the look-ups, in order. */
  readonly asked: string[] = [];
  /** Shares whose sign-in page was asked for, in order. */
  readonly pagesAsked: string[] = [];
  page: SignInPageShown = { title: null, logo: null };
  /** Whether no request gets a response. */
  isAway = false;
  /** Awaited before each response. */
  gate: Promise<void> | undefined;
  /** Refusal for the next step. */
  refuses: LoginRefusalReason | undefined;
  /** The next person to log in. */
  person: Partial<CallerIdentity> = {};
  /** Versions of providers for new sessions. */
  versions = new Map<string, number>();
  onRefresh: (providerId: string) => void = () => {};
  onEnded: (id: string) => void = () => {};
  readonly #states = new Map<string, LoginStart>();
  readonly #codes = new Map<string, Code>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  async startLogin(start: LoginStart): Promise<LoginStarted> {
    await this.#answers();
    this.starts.push(start);
    if (this.refuses !== undefined) return { type: 'refused', reason: this.refuses };
    const state = randomBytes(16).toString('hex');
    this.#states.set(state, start);
    return { type: 'redirect', url: `https://idp.example/authorize?state=${state}` };
  }

  async finishLogin(callback: LoginCallback): Promise<LoginReturned> {
    await this.#answers();
    this.callbacks.push(callback);
    const state = callback.parameters['state'] ?? '';
    const start = this.#states.get(state);
    this.#states.delete(state);
    if (this.refuses !== undefined) return { type: 'refused', reason: this.refuses };
    if (start === undefined || start.providerId !== callback.providerId)
      return { type: 'refused', reason: 'attempt-not-valid' };
    const code = randomBytes(32).toString('base64url');
    this.#codes.set(code, { start, identity: personOf(start.providerId, this.person) });
    const port = start.port === 443 ? '' : `:${start.port}`;
    return { type: 'redirect', url: `https://${start.host}${port}/.frontdoor/login?code=${code}` };
  }

  async redeemLogin({ shareId, host, code, browser }: LoginRedemption): Promise<LoginRedeemed> {
    await this.#answers();
    const found = this.#codes.get(code);
    if (found === undefined || found.start.browser !== browser)
      return { type: 'refused', reason: 'attempt-not-valid' };
    this.#codes.delete(code);
    const { start, identity } = found;
    if (start.shareId !== shareId || start.host !== host)
      return { type: 'refused', reason: 'attempt-not-valid' };
    const token = this.openSession({ shareId, host, providerId: start.providerId, identity });
    return { type: 'session', token, session: this.sessions.get(token)!, returnTo: start.returnTo };
  }

  async signInPage({ shareId }: SignInPageQuery): Promise<SignInPageShown> {
    this.pagesAsked.push(shareId);
    await this.#answers();
    return this.page;
  }

  async findSession({ token }: SessionQuery): Promise<GatewaySession | null> {
    this.asked.push(token);
    await this.#answers();
    // Like the real client, which refuses what does not have the shape.
    const found = sessionFoundShape.read({ session: this.sessions.get(token) ?? null });
    if ('problem' in found) throw new Error(found.problem);
    return found.value.session;
  }

  async endSession({ token }: SessionQuery): Promise<void> {
    await this.#answers();
    const session = this.sessions.get(token);
    this.sessions.delete(token);
    if (session !== undefined) this.onEnded(session.id);
  }

  async reportUsage(usage: GatewayUsage): Promise<void> {
    await this.#answers();
    this.usage.push(usage);
  }

  async refreshProvider(providerId: string): Promise<void> {
    await this.#answers();
    this.refreshed.push(providerId);
    this.onRefresh(providerId);
  }

  /** Creates a session as if a person had logged in, and returns its cookie value. */
  openSession(
    given: Pick<GatewaySession, 'shareId' | 'host' | 'providerId'> & Partial<GatewaySession>,
  ): string {
    const token = randomBytes(32).toString('base64url');
    this.sessions.set(token, {
      id: `session-${token.slice(0, 12)}`,
      providerVersion: this.versions.get(given.providerId) ?? 1,
      identity: personOf(given.providerId),
      createdAtMs: this.#nowMs(),
      lastUsedAtMs: this.#nowMs(),
      ...given,
    });
    return token;
  }

  async #answers(): Promise<void> {
    await this.gate;
    if (this.isAway) throw new Error('connection refused');
  }
}
