/**
 * The upstream settings of a share, as they change the heads of its requests and responses: compiled once for each version
 * of the share, and begun for each exchange. ADR 0087.
 */
import type { GatewayPathTarget, GatewayUpstream } from '#domain/upstream';
import type { HeadChanges } from './head-changes.ts';
import { HeaderRuleSet } from './header-changes.ts';
import { PathMapping } from './path-mapping.ts';
import type { RequestHead } from './request-head-policy.ts';
import type { ResponseHead } from './response-head-policy.ts';
import { AddressRewriting, type ClientSide } from './service-address.ts';
import type { LineChanges } from './set-cookie-policy.ts';

export class ServiceHeads {
  readonly #host: GatewayUpstream['host'];
  readonly #paths: PathMapping | undefined;
  readonly requestRules: HeaderRuleSet | undefined;
  readonly answerRules: HeaderRuleSet | undefined;

  /** `target`: the address for paths below one; undefined: that of the share. */
  constructor({ host, path, requestHeaders, responseHeaders }: GatewayUpstream, target?: GatewayPathTarget) {
    const below = target?.isStripped === true ? target.path : '';
    const servicePath = (target === undefined ? path : target.servicePath) ?? '';
    this.#host = target === undefined ? host : target.host;
    this.#paths = below === servicePath ? undefined : new PathMapping(below, servicePath);
    this.requestRules = requestHeaders && new HeaderRuleSet(requestHeaders);
    this.answerRules = responseHeaders && new HeaderRuleSet(responseHeaders);
  }

  begin(client: ClientSide): ServiceRewriting {
    const isSame = this.#host === undefined && this.#paths === undefined;
    const address = isSame ? undefined : new AddressRewriting(this.#host, this.#paths, client);
    return new ServiceRewriting(this, address);
  }
}

const FIRST_FINAL_STATUS = 200;

/** One exchange. */
export class ServiceRewriting {
  readonly #heads: ServiceHeads;
  readonly #address: AddressRewriting | undefined;

  constructor(heads: ServiceHeads, address: AddressRewriting | undefined) {
    this.#heads = heads;
    this.#address = address;
  }

  /** Rewrites the paths of cookies; undefined: they stay. */
  get cookiePath(): ((path: string) => string) | undefined {
    const address = this.#address;
    return address?.changesCookies === true ? (path) => address.cookiePath(path) : undefined;
  }

  requestChanges(head: RequestHead, before: HeadChanges | undefined): HeadChanges | undefined {
    const rules = this.#heads.requestRules;
    const changes = rules === undefined ? before : withRules(rules, head, before);
    return this.#address === undefined ? changes : this.#address.requestChanges(head, changes);
  }

  /** Interim responses keep their headers. */
  answerChanges({ fields, status }: ResponseHead, before: LineChanges): LineChanges {
    const rules = status < FIRST_FINAL_STATUS ? undefined : this.#heads.answerRules;
    // A line that a rule removes is not written again by the rewriting of addresses.
    const omitted = rules === undefined ? before.omitted : [...before.omitted, ...rules.removedFrom(fields)];
    const lines = before.lines + (rules?.lines ?? '');
    return this.#address === undefined
      ? { omitted, lines }
      : this.#address.answerChanges(fields, { omitted, lines });
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
