/**
 * The gateway's requests to the control plane about callers. The shapes are those of the domain; the transport is
 * left to the implementation.
 */
import type {
  GatewaySession,
  GatewayUsage,
  LoginCallback,
  LoginRedeemed,
  LoginRedemption,
  LoginReturned,
  LoginStart,
  LoginStarted,
  SessionQuery,
  SignInPageQuery,
  SignInPageShown,
} from '#domain/gateway-shapes';
import { FrontdoorError } from '#base';

export interface LoginControl {
  startLogin(start: LoginStart): Promise<LoginStarted>;
  finishLogin(callback: LoginCallback): Promise<LoginReturned>;
  redeemLogin(redemption: LoginRedemption): Promise<LoginRedeemed>;
  signInPage(query: SignInPageQuery): Promise<SignInPageShown>;
  /** Resolves to null if there is no such session, or it has ended. */
  findSession(query: SessionQuery): Promise<GatewaySession | null>;
  endSession(query: SessionQuery): Promise<void>;
  reportUsage(usage: GatewayUsage): Promise<void>;
  /** Requests a new fetch of the issuer's keys, which arrive over the feed. */
  refreshProvider(providerId: string): Promise<void>;
}

/** Shorter than a request may wait to be decided about. */
export const CONTROL_TIMEOUT_MS = 8_000;

/** The answer, or `unavailable` when it does not come in time. */
export async function answerInTime<T>(answer: Promise<T>, timeoutMs = CONTROL_TIMEOUT_MS): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new FrontdoorError('timeout', 'control-timeout', 'the control plane did not respond in time'));
  }, timeoutMs);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
