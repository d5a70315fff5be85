/** What the gateway asks of the control plane about callers: shapes of the domain, over whatever carries them. */
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
} from '#domain';
import { FrontdoorError } from '#base';

export interface LoginControl {
  startLogin(start: LoginStart): Promise<LoginStarted>;
  finishLogin(callback: LoginCallback): Promise<LoginReturned>;
  redeemLogin(redemption: LoginRedemption): Promise<LoginRedeemed>;
  /** Null: there is none, or it is over. */
  findSession(query: SessionQuery): Promise<GatewaySession | null>;
  endSession(query: SessionQuery): Promise<void>;
  reportUsage(usage: GatewayUsage): Promise<void>;
  /** The keys of its tokens' issuer are fetched anew; they come with the feed. */
  refreshProvider(providerId: string): Promise<void>;
}

/** Shorter than a request may wait to be decided about. */
export const CONTROL_TIMEOUT_MS = 8_000;

/** The answer, or `unavailable` when it does not come in time. */
export async function answerInTime<T>(answer: Promise<T>, timeoutMs = CONTROL_TIMEOUT_MS): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new FrontdoorError('timeout', 'control-timeout', 'the control plane did not answer in time'));
  }, timeoutMs);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
