/**
 * The upstream settings of a share, as they change the heads of its requests and responses: compiled once for each version
 * of the share, and begun for each exchange. ADR 0087.
 */
import type { GatewayUpstream } from '#domain/upstream';
import type { HeadChanges } from './head-changes.ts';
import { HeaderRuleSet } from './header-changes.ts';
import type { RequestHead } from './request-head-policy.ts';
import type { ResponseHead } from './response-head-policy.ts';
import { HostRewriting, type ClientSide } from './service-host.ts';
import type { LineChanges } from './set-cookie-policy.ts';

export class ServiceHeads {
  readonly #host: GatewayUpstream['host'];
  readonly requestRules: HeaderRuleSet | undefined;
  readonly answerRules: HeaderRuleSet | undefined;

  constructor({ host, requestHeaders, responseHeaders }: GatewayUpstream) {
    this.#host = host;
    this.requestRules = requestHeaders && new HeaderRuleSet(requestHeaders);
    this.answerRules = responseHeaders && new HeaderRuleSet(responseHeaders);
  }

  begin(client: ClientSide): ServiceRewriting {
    return new ServiceRewriting(this, this.#host && new HostRewriting(this.#host, client));
  }
}

const FIRST_FINAL_STATUS = 200;

/** One exchange. */
export class ServiceRewriting {
  readonly #heads: ServiceHeads;
  readonly #host: HostRewriting | undefined;

  constructor(heads: ServiceHeads, host: HostRewriting | undefined) {
    this.#heads = heads;
    this.#host = host;
  }

  requestChanges(head: RequestHead, before: HeadChanges | undefined): HeadChanges | undefined {
    const rules = this.#heads.requestRules;
    const changes = rules === undefined ? before : withRules(rules, head, before);
    return this.#host === undefined ? changes : this.#host.requestChanges(head, changes);
  }

  /** Interim responses keep their headers. */
  answerChanges({ fields, status }: ResponseHead, before: LineChanges): LineChanges {
    const rules = status < FIRST_FINAL_STATUS ? undefined : this.#heads.answerRules;
    // A line that a rule removes is not written again by the other host's rewriting.
    const omitted = rules === undefined ? before.omitted : [...before.omitted, ...rules.removedFrom(fields)];
    const lines = before.lines + (rules?.lines ?? '');
    return this.#host === undefined
      ? { omitted, lines }
      : this.#host.answerChanges(fields, { omitted, lines });
  }
}

function withRules(
  rules: HeaderRuleSet,
  { fields }: RequestHead,
  before: HeadChanges | undefined,
): HeadChanges {
  const { target, omitted = [], lines = '' } = before ?? { target: undefined };
  // Those of access control and of the gateway follow, so that no rule precedes them.
  return { target, omitted: [...omitted, ...rules.removedFrom(fields)], lines: rules.lines + lines };
}
