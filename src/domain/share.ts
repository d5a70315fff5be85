/** A share, the overlay service that a user publishes. Other types of it are derived from this one. */
import type { AccessRules } from './access/access-rules.ts';
import type { BackendMode, IngressKind } from './backend-mode-table.ts';
import type { GatewayInspection } from './gateway-shapes/gateway-feed.ts';
import type { ShareUpstream } from './upstream/share-upstream.ts';

export interface ShareFrontend {
  readonly id: string;
  /** The name under which this frontend serves the share: `<token>.<zone>`, lower case. */
  readonly host: string;
}

/** A name of a share below a custom frontend, or a domain of the share. */
export interface CustomHost {
  /** Null for a domain of the share. */
  readonly customFrontendId: string | null;
  /** `<token>.<hostname>`, or the domain, lower case. */
  readonly host: string;
  /** The guards of the share there: its own providers if it has any, otherwise the custom frontend's. */
  readonly authProviderIds: readonly string[];
}

/** A share as it is stored, with its frontends, grants and providers. */
export interface Share {
  /** The overlay service's id. */
  readonly id: string;
  readonly frontdoorId: string;
  /** The environment that hosts it, which is the only identity that may bind it. */
  readonly environmentId: string;
  /** The overlay service's name. */
  readonly token: string;
  /** Null if none was given. */
  readonly name: string | null;
  readonly shareMode: 'public' | 'private';
  readonly backendMode: BackendMode;
  readonly target: string;
  readonly reserved: boolean;
  readonly targetByAgent: boolean;
  /** How clients reach a public share of a stream; null for all others. */
  readonly ingress: IngressKind | null;
  /** The port of gateways with the kind `port`; null for all others. */
  readonly ingressPort: number | null;
  readonly epoch: number;
  readonly frontends: readonly ShareFrontend[];
  /** Its names below custom frontends of its frontdoor, by their age, then its domains, by theirs. */
  readonly customHosts: readonly CustomHost[];
  readonly authProviderIds: readonly string[];
  /** The shared policy whose rules apply; null: its own. */
  readonly accessPolicyId: string | null;
  /** Ids of the environments, and of the routers that may tunnel, that may dial it if it is private. */
  readonly grants: readonly string[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A share with what gateways need besides. */
export interface GuardedShare extends Share {
  /** Null if it has no policy. */
  readonly rules: AccessRules | null;
  readonly upstream: ShareUpstream;
  /** Null: its requests are not recorded. */
  readonly inspection: GatewayInspection | null;
}

/**
 * The names with which clients find a share of a stream. A name that a custom frontend guards with auth providers is none of
 * them, because nobody can sign in there.
 */
export function ingressHostsOf({
  frontends,
  customHosts,
}: Pick<Share, 'frontends' | 'customHosts'>): readonly string[] {
  const open = customHosts.filter(({ authProviderIds }) => authProviderIds.length === 0);
  return [...frontends, ...open].map(({ host }) => host);
}
