/** A share as a gateway serves it: one version of it with what is derived from its record, and each of its names. */
import { loginHostOf } from '#domain';
import { needsIdentity, type CompiledRules } from '#domain/access';
import type { GatewayShare, ServedShare } from '#domain/gateway-shapes';
import { isContentCoding, type ContentCoding, type GatewayPathTarget } from '#domain/upstream';
import { ServiceHeads } from '../http/service-rewriting.ts';
import { OwnAnswers } from './own-answers.ts';
import { PathTargets } from './path-targets.ts';

/** One published version of a share. A change makes a new route and retires this one. */
export class ShareRoute<Slot> {
  readonly share: ServedShare;
  readonly rules: CompiledRules;
  readonly slot: Slot;
  /** Set if the share has upstream settings that concern heads. */
  readonly heads: ServiceHeads | undefined;
  /** Whether a dial names its client. Targets of paths learn none. */
  readonly namesClient: boolean;
  /** Whether a circuit is for the request, or connection, that it is dialed for, and for no other. */
  readonly isForOneUse: boolean;
  /** For a service that speaks HTTP/2: the scheme of requests to it. */
  readonly http2: 'http' | 'https' | undefined;
  /** How long a response may continue without a byte; undefined: the limit of the gateway. */
  readonly idleMs: number | undefined;
  /** Codings with which responses are compressed; undefined: none. */
  readonly codings: readonly ContentCoding[] | undefined;
  /** Set on the route of the whole share if the gateway answers some of its paths itself. */
  readonly answers: OwnAnswers | undefined;
  /** Whether the route was replaced or withdrawn, so that nothing new may use it. */
  retired = false;
  /** Whether the share was withdrawn, or lost one of its names, so that current uses must end now. */
  revoked = false;
  /** The path whose target it leads to; undefined: the target of the share. */
  readonly path: string | undefined;
  /** Set if paths of the share have other targets. */
  readonly targets: PathTargets<ShareRoute<Slot>> | undefined;

  /** `rules` are those of the share. `makeSlot` is called for each target. */
  constructor(
    share: ServedShare,
    rules: CompiledRules,
    makeSlot: (share: GatewayShare) => Slot,
    target?: GatewayPathTarget,
  ) {
    const { upstream } = share;
    this.share = share;
    this.rules = rules;
    this.slot = makeSlot(share);
    this.path = target?.path;
    this.heads = upstream && new ServiceHeads(upstream, target);
    // A target is found by the route of the whole share, which also has the answers.
    const { routes, answers } = (target === undefined ? upstream : undefined) ?? {};
    this.targets =
      routes &&
      new PathTargets(
        routes.map((each) => ({ path: each.path, route: new ShareRoute(share, rules, makeSlot, each) })),
      );
    this.namesClient = target === undefined && upstream?.namesClient === true;
    this.isForOneUse = this.namesClient || share.ingress !== undefined;
    this.http2 = target === undefined ? upstream?.http2 : target.http2;
    this.idleMs = upstream?.idleMs;
    this.codings = upstream?.compression?.filter(isContentCoding);
    this.answers = answers && new OwnAnswers(answers);
  }
}

export type ShareName = GatewayShare['customHosts'][number];

/** One name of a share, with its route and the providers that guard it under this name. */
export class HostEntry<Slot> {
  /** In canonical form. */
  readonly host: string;
  readonly route: ShareRoute<Slot>;
  readonly authProviderIds: readonly string[];
  /** Whether it is a domain of the share, and in no zone. */
  readonly isDomain: boolean;
  /** Whether every caller must be identified. */
  readonly needsIdentity: boolean;
  /** Whether there is any rule. */
  readonly isGuarded: boolean;

  constructor({ host, authProviderIds, isDomain = false }: ShareName, route: ShareRoute<Slot>) {
    const { rules } = route.share;
    this.host = host;
    this.isDomain = isDomain;
    this.route = route;
    this.authProviderIds = authProviderIds;
    this.needsIdentity = needsIdentity(route.rules, authProviderIds);
    this.isGuarded = this.needsIdentity || rules !== null;
  }

  /** `oauth.<zone>`, to which identity providers redirect. For a domain it is that of the share's first host. */
  get loginHost(): string {
    return loginHostOf(this.isDomain ? (this.route.share.hosts[0] ?? this.host) : this.host);
  }
}
