/**
 * `/gateway/v1` of a control plane: the share feed, log-ins, and reports. For gateways alone; their certificate is the
 * credential. Each question and answer has a shape of `#domain`, each report resolves once it is taken in, whether now
 * or when it was sent before.
 */
import type { TSchema } from 'typebox';
import { FrontdoorError } from '#base';
import { FORMAT_HEADER, type Shape, type ShapeOf } from '#base/shapes';
import { LineDecoder } from '#domain';
import {
  failuresShape,
  GATEWAY_FEED_HEARTBEAT_MS,
  gatewayFeedShape,
  gatewayUsageShape,
  inspectionsShape,
  loginCallbackShape,
  loginRedeemedShape,
  loginRedemptionShape,
  loginReturnedShape,
  loginStartedShape,
  loginStartShape,
  providerQueryShape,
  requestLogShape,
  sessionFoundShape,
  sessionQueryShape,
  signInPageQueryShape,
  signInPageShape,
  trafficReportShape,
  type GatewaySession,
  type GatewayUsage,
  type InspectedRequest,
  type LoggedRequest,
  type LoginCallback,
  type LoginRedeemed,
  type LoginRedemption,
  type LoginReturned,
  type LoginStart,
  type LoginStarted,
  type RequestFailure,
  type SessionQuery,
  type SignInPageQuery,
  type SignInPageShown,
  type TrafficReport,
} from '#domain/gateway-shapes';
import type { JsonAnswer } from '#net/http';
import { checkStatus, shapeOf } from './edge-answer.ts';
import type { EdgeConnection } from './edge-connection.ts';
import { failureOf } from './edge-failure.ts';

const MAX_FEED_LINE_BYTES = 256 * 1_048_576;
const MISSED_HEARTBEATS = 3;
/** Codes of a log-in are valid once, so that such a call is not sent to another control plane when an answer is lost. */
const ONCE = false;

export interface GatewayFeedSubscription {
  /** The last applied version with its epoch. The control plane resumes there if possible. */
  readonly since?: { readonly version: number; readonly epoch: string } | undefined;
  /** One line of the stream (JSON). */
  readonly onLine: (line: string) => void;
  /** The last call, once. Never called after `close`. */
  readonly onEnd: (error: FrontdoorError) => void;
}

export class GatewayApiClient {
  readonly #connection: EdgeConnection;

  constructor(connection: EdgeConnection) {
    this.#connection = connection;
  }

  /** Where to send a browser that is to log in. */
  startLogin(start: LoginStart): Promise<LoginStarted> {
    return this.#ask('/gateway/v1/logins/start', loginStartShape, start, loginStartedShape);
  }

  /** Returns where to redirect a browser that returned from its identity provider. */
  finishLogin(callback: LoginCallback): Promise<LoginReturned> {
    const path = '/gateway/v1/logins/callback';
    return this.#ask(path, loginCallbackShape, callback, loginReturnedShape, ONCE);
  }

  redeemLogin(redemption: LoginRedemption): Promise<LoginRedeemed> {
    const path = '/gateway/v1/logins/redeem';
    return this.#ask(path, loginRedemptionShape, redemption, loginRedeemedShape, ONCE);
  }

  /** The name and the logo on sign-in pages of a share. A control plane of an earlier version does not know them, and rejects. */
  signInPage(query: SignInPageQuery): Promise<SignInPageShown> {
    return this.#ask('/gateway/v1/logins/page', signInPageQueryShape, query, signInPageShape, ONCE);
  }

  /** Resolves to null if there is no such session, or it has ended. */
  async findSession(query: SessionQuery): Promise<GatewaySession | null> {
    const path = '/gateway/v1/sessions/find';
    return (await this.#ask(path, sessionQueryShape, query, sessionFoundShape)).session;
  }

  /** Ends the session at every gateway. */
  endSession(query: SessionQuery): Promise<void> {
    return this.#report('/gateway/v1/sessions/end', sessionQueryShape, query);
  }

  /**
   * Requests a fetch of the provider's keys, because a token names an unknown one. New keys arrive with the share
   * feed.
   */
  refreshProvider(providerId: string): Promise<void> {
    return this.#report('/gateway/v1/providers/refresh', providerQueryShape, { providerId });
  }

  reportUsage(usage: GatewayUsage): Promise<void> {
    return this.#report('/gateway/v1/usage', gatewayUsageShape, usage);
  }

  reportTraffic(report: TrafficReport): Promise<void> {
    return this.#report('/gateway/v1/metrics', trafficReportShape, report);
  }

  reportFailures(failures: readonly RequestFailure[]): Promise<void> {
    return this.#report('/gateway/v1/failures', failuresShape, { failures });
  }

  reportInspections(requests: readonly InspectedRequest[]): Promise<void> {
    return this.#report('/gateway/v1/inspections', inspectionsShape, { requests });
  }

  reportRequests(requests: readonly LoggedRequest[]): Promise<void> {
    return this.#report('/gateway/v1/requests', requestLogShape, { requests });
  }

  /** Follows the share feed, one stream: a subscriber that wants it again after its end subscribes again. */
  subscribeGatewayFeed(subscription: GatewayFeedSubscription): { close(): void } {
    const abort = new AbortController();
    const { since } = subscription;
    const query =
      since === undefined ? '' : `&since=${since.version}&epoch=${encodeURIComponent(since.epoch)}`;
    this.#readFeed(`/gateway/v1/shares?parts=true${query}`, subscription.onLine, abort.signal).catch(
      (error: unknown) => {
        if (!abort.signal.aborted) subscription.onEnd(asFailure(error, this.#connection.hop));
      },
    );
    return { close: () => abort.abort() };
  }

  async #readFeed(path: string, onLine: (line: string) => void, signal: AbortSignal): Promise<void> {
    const { hop } = this.#connection;
    const silenceMs = MISSED_HEARTBEATS * GATEWAY_FEED_HEARTBEAT_MS;
    const answer = await this.#connection.stream({ method: 'GET', path }, silenceMs, signal);
    if (answer.status !== 200) {
      throw failureOf({ status: answer.status, headers: {}, text: '', json: undefined }, hop);
    }
    const newer = gatewayFeedShape.newerThanKnown(answer.headers[FORMAT_HEADER]);
    if (newer !== undefined) throw new FrontdoorError('badGateway', 'feed-of-newer-format', newer);
    const lines = new LineDecoder(MAX_FEED_LINE_BYTES);
    for await (const chunk of answer.bytes) {
      for (const line of lines.push(chunk)) if (!signal.aborted) onLine(line);
      if (lines.overflowed)
        throw new FrontdoorError('badGateway', 'feed-line-too-long', 'share feed: line too long');
    }
    throw new FrontdoorError('unavailable', 'feed-ended', `${hop} ended the share feed`);
  }

  async #ask<Q extends TSchema, A extends TSchema>(
    path: string,
    question: Shape<Q>,
    body: ShapeOf<Q>,
    answer: Shape<A>,
    isRepeatable = true,
  ): Promise<ShapeOf<A>> {
    const { hop } = this.#connection;
    const given = await this.#send(path, question, body, isRepeatable);
    checkStatus(given, 200, hop);
    return shapeOf(given, answer, hop).value;
  }

  async #report<Q extends TSchema>(path: string, shape: Shape<Q>, body: ShapeOf<Q>): Promise<void> {
    checkStatus(await this.#send(path, shape, body, true), 204, this.#connection.hop);
  }

  #send(
    path: string,
    { format }: { readonly format: number },
    body: unknown,
    isRepeatable: boolean,
  ): Promise<JsonAnswer> {
    const headers = { [FORMAT_HEADER]: String(format) };
    return this.#connection.request({ method: 'POST', path, headers, body, isRepeatable });
  }
}

function asFailure(error: unknown, hop: string): FrontdoorError {
  if (error instanceof FrontdoorError) return error;
  return new FrontdoorError('unavailable', 'feed-broken', `${hop}: the share feed broke`, { cause: error });
}
