/**
 * What agents and the control plane exchange at `/agent/v1`: an agent sees the shares that it hosts itself. A request
 * with an unknown field is refused, because the field may restrict the share.
 */
import { Part, Shape, Type, type ShapeOf } from '#base/shapes';
import { upstreamChangeSchema, shareUpstreamFields } from '../upstream/share-upstream.ts';
import { BACKEND_MODES, INGRESS_KINDS } from '../backend-mode-table.ts';

const { closed, count, flag, lossyList, nullable, oneOf, optional, text, texts, word } = Part;

const MAX_GRANTS = 1_000;
const MAX_AUTH_PROVIDERS = 100;
export const MAX_DOMAINS_OF_SHARE = 20;

/** A domain of a share, as its agent shows it. */
export const hostedDomainSchema = Type.Object({
  hostname: text(),
  /** Whether it is served. */
  isServed: flag(),
  /** Why it is not proven, or no longer; null: it is, or nobody has looked yet. */
  problem: nullable(text()),
  /** `TXT name value`, in words, for the owner; null where none is necessary. */
  record: nullable(text()),
});
export type HostedDomain = ShapeOf<typeof hostedDomainSchema>;

/** Names, targets and grants are judged where shares are made; here, their types. */
export const hostedShareRequestShape = new Shape(
  closed({
    /** Absent or null: a random token, and the share goes when it is released. */
    name: Type.Optional(nullable(text())),
    shareMode: oneOf('public', 'private'),
    backendMode: oneOf(...BACKEND_MODES),
    /** In a form that the mode has. */
    target: text(),
    /** Environment ids that may dial a private share. */
    grants: Type.Optional(nullable(Type.Array(text(), { maxItems: MAX_GRANTS }))),
    /** Settings that the share gets; it keeps its others. */
    upstream: Type.Optional(upstreamChangeSchema),
    /** Names or ids of the auth providers that guard it; absent: it keeps its own. */
    authProviders: Type.Optional(Type.Array(Part.someText(), { maxItems: MAX_AUTH_PROVIDERS })),
    /** Its whole policy, in the form of the Management API, which judges it; absent: it keeps its own. */
    policy: Type.Optional(Part.anyObject()),
    /** Name or id of the shared policy that it uses, instead of `policy`; absent: it keeps what it has. */
    sharedPolicy: Type.Optional(Part.someText()),
    /** The port of a public share that does not speak HTTP; absent: it keeps its own, and a new one gets a free port. */
    ingressPort: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
    /** How clients reach it; absent: as before, or at a port. */
    ingress: Type.Optional(oneOf(...INGRESS_KINDS)),
    /** Domains that a public share gets; it keeps its others. */
    domains: Type.Optional(Type.Array(text(), { maxItems: MAX_DOMAINS_OF_SHARE })),
  }),
  { name: 'share request', format: 1, remedy: 'upgrade the control plane' },
);
export type HostedShareRequest = ShapeOf<typeof hostedShareRequestShape.schema>;

const hostedShareSchema = Type.Object({
  /** The overlay's service id. */
  id: text(),
  /** The overlay's service name. */
  token: text(),
  name: nullable(text()),
  shareMode: oneOf('public', 'private'),
  backendMode: word(...BACKEND_MODES),
  target: text(),
  /** Whether this agent set the target itself; false if it came through the Management API. */
  targetByAgent: flag(),
  reserved: flag(),
  /** Incremented when the share is reclaimed or changed. */
  epoch: count(),
  /** Absent: there are none, or the control plane knows none. */
  upstream: Type.Optional(Type.Object(optional(shareUpstreamFields))),
  grants: texts(),
  /** Absent: it has none. */
  ingress: Type.Optional(nullable(text())),
  ingressPort: Type.Optional(nullable(count())),
  /** Absent: there are none, or the control plane knows none. */
  domains: Type.Optional(lossyList('domains', hostedDomainSchema)),
  frontendEndpoints: texts(),
  /** Measured through the overlay. */
  status: word('PENDING', 'DEPLOYED', 'FAILED'),
  failure: Type.Optional(Type.Object({ count: count(), lastError: text(), nextRetry: text() })),
});

const toAgent = (name: string) => ({ name, format: 1, remedy: 'upgrade this agent' });

export const hostedShareShape = new Shape(hostedShareSchema, toAgent('share'));
export type HostedShare = ShapeOf<typeof hostedShareShape.schema>;

export const hostedSharesShape = new Shape(lossyList('shares', hostedShareSchema), toAgent('list of shares'));

/** An agent's report of itself. */
export const agentSelfShape = new Shape(Type.Object({ version: text(64, '^[\\x21-\\x7e]{1,64}$') }), {
  name: 'report of an agent',
  format: 1,
  remedy: 'upgrade the control plane',
});
