/**
 * Decides whether a request is admitted, by its host and then by access control, and whether an admitted request
 * still is. Challenges of a certificate authority are answered before that. A decision about a share that changed
 * in the meantime is made again.
 */
import type { AccessVerdict } from '../access/access.ts';
import { policyHeadersOf } from '../answers/policy-headers.ts';
import { FAILURES, failureOfPlainRequest, type Failure } from '../answers/failure-table.ts';
import type { GatewayContext } from './gateway-context.ts';
import { grpcKindOf } from '../http/grpc-policy.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import { pathRefusal, pathVerdict, routeOfPath } from './path-decision.ts';
import type { RequestRecord } from './request-record.ts';
import { decideRoute, type ClientFacts } from '../circuits/route-decision.ts';
import type { GatewayHost } from '../circuits/upstream.ts';

const CHECK_MS = 1_000;

/** Also sets the route in the record. `head` is valid until the verdict is there. */
export function decideRequest(
  context: GatewayContext,
  record: RequestRecord,
  head: RequestHead,
  client: ClientFacts,
): AccessVerdict | Promise<AccessVerdict> {
  const { access, challenges, table } = context;
  if (client.isMistaken) {
    record.route = table.find(head.host)?.route;
    const failure = failureOfPlainRequest(record.route && head.hostValue);
    return { type: 'refuse', decision: failure.code, failure };
  }
  const challenge = challenges?.(head, client);
  if (challenge !== undefined) {
    record.route = table.find(head.host)?.route;
    return challenge;
  }
  const { host, failure } = decideRoute(table, head.host, client);
  record.route = host?.route;
  if (failure !== undefined) {
    const own = host === undefined ? access.decideOwn(head, client) : undefined;
    return own ?? { type: 'refuse', decision: failure.code, failure };
  }
  record.policyHeaders = policyHeadersOf(host.route.rules, head, client.isSecure);
  const verdict = access.decide(host, head, client);
  if (!(verdict instanceof Promise)) return byPath(record, host, head, verdict);
  return decideLater(context, record, head, client, host, verdict);
}

async function decideLater(
  context: GatewayContext,
  record: RequestRecord,
  head: RequestHead,
  client: ClientFacts,
  host: GatewayHost,
  pending: Promise<AccessVerdict>,
): Promise<AccessVerdict> {
  const verdict = await pending;
  const isSame = context.table.find(head.host)?.route === host.route;
  return isSame || verdict.type !== 'admit'
    ? byPath(record, host, head, verdict)
    : decideRequest(context, record, head, client);
}

/** Also sets the route to that of the path. */
function byPath(
  record: RequestRecord,
  { route }: GatewayHost,
  head: RequestHead,
  verdict: AccessVerdict,
): AccessVerdict {
  if (verdict.type !== 'admit') return verdict;
  const own = pathVerdict(route, head.target);
  if (own !== undefined) return own;
  const found = routeOfPath(route, head.target);
  if ('cause' in found) return pathRefusal(found);
  if (found.http2 === undefined && grpcKindOf(head) === 'grpc') return pathRefusal(FAILURES.grpcTarget);
  record.route = found;
  return verdict;
}

/** Checks the admission of a running request again, at most once a second. */
export class AdmissionWatch {
  readonly #context: GatewayContext;
  #checkedMs = 0;
  #generation = 0;

  constructor(context: GatewayContext) {
    this.#context = context;
  }

  /** Called when a request was admitted. */
  begin(): void {
    this.#checkedMs = this.#context.nowMs;
    this.#generation = this.#context.access.generation;
  }

  /** Returns why the admission ends now, or undefined if it still holds. */
  endOf(record: RequestRecord): Failure | undefined {
    const { access, nowMs, table } = this.#context;
    const { admission } = record;
    if (admission === undefined) return undefined;
    if (!admission.isGuarded && access.generation === this.#generation) return undefined;
    if (nowMs - this.#checkedMs < CHECK_MS) return undefined;
    this.begin();
    const host = table.find(record.host);
    const isSame = host?.route.share.id === record.route?.share.id;
    return access.endOf(isSame ? host : undefined, admission, record.client);
  }
}
