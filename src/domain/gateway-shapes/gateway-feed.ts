/**
 * The stream of `GET /gateway/v1/shares`: one JSON object per line. It begins with a snapshot, or with the deltas
 * since the version that the gateway sent; then deltas whose versions increase by one, with heartbeats in
 * have no version: they are for the gateway that gets them, now or never. A share, provider, zone or key that cannot be
 * read loses itself; the lists of a delta that only name what is over have to be whole.
 */
import { compileReader, Part, Shape, Type, type ShapeOf } from '#base/shapes';
import { accessRulesSchema } from '../access/access-rules.ts';
import { INGRESS_KINDS } from '../backend-mode-table.ts';
import { gatewayUpstreamSchema } from '../upstream/gateway-upstream.ts';
import type { AuthProviderType } from '../provider-types/provider-type-table.ts';

const {
  anyObject,
  count,
  flag,
  lossyField,
  lossyList,
  nullable,
  oneOf,
  orElse,
  someText,
  text,
  textPair,
  texts,
  variants,
  word,
} = Part;

/** The lists and fields of the feed that lose what cannot be read, as `LostEntry.list` names them. */
export type FeedList = 'share' | 'provider' | 'zone' | 'key';
const shareList: FeedList = 'share';
const providerList: FeedList = 'provider';
const zoneList: FeedList = 'zone';
const keyList: FeedList = 'key';

const customHostSchema = Type.Object({
  host: text(),
  authProviderIds: texts(),
  /** Whether the name is a domain of the share, and not below a zone. Absent: it is not. */
  isDomain: Type.Optional(flag()),
});
export type GatewayCustomHost = ShapeOf<typeof customHostSchema>;

/** The part of its requests that is recorded for the owner. */
const inspectionSchema = Type.Object({
  /** Limit for each request and response body; 0: none is recorded. */
  maxBodyBytes: Type.Number(),
  /** When recording ends, in Unix milliseconds. */
  untilMs: Type.Number(),
});
export type GatewayInspection = ShapeOf<typeof inspectionSchema>;

/** Where gateways take the connections of a share that does not speak HTTP. */
const ingressSchema = Type.Object({
  /** A newer kind is no word of this version: the share is closed. */
  kind: oneOf(...INGRESS_KINDS, 'udp-port'),
  /** Set with the kinds `port`, for TCP, and `udp-port`. */
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
  /** Lower-case names with which clients find it, which select it where it has no port. */
  hosts: texts(),
});
export type GatewayIngress = ShapeOf<typeof ingressSchema>;

const shareFields = {
  /** The overlay's service id, which gateways dial. */
  id: someText(),
  token: text(),
  /** Lower-case host names under which the share is served by HTTP: `<token>.<zone>`. */
  hosts: texts(),
  /** Set if the share is served at a port, and not by HTTP: it has no hosts then, so that older gateways serve it nowhere. */
  ingress: Type.Optional(ingressSchema),
  /** Providers that guard it at `hosts`. One of them must admit the caller; if there are none, everyone is admitted. */
  authProviderIds: texts(),
  /** Names below custom frontends, and domains of the share, with the providers that guard it there. */
  customHosts: Type.Array(customHostSchema),
  /** Null: there are no rules besides the providers. */
  rules: nullable(accessRulesSchema),
  /** Absent: there are no settings, or the control plane knows none. */
  upstream: Type.Optional(gatewayUpstreamSchema),
  /** Null: its requests are not recorded. */
  inspection: nullable(inspectionSchema),
  frontdoorId: text(),
  /** Absent in the lists of older control planes. */
  organizationId: Type.Optional(text()),
  environmentId: text(),
  updatedAtMs: Type.Number(),
};
const shareSchema = Type.Object(shareFields);
export type GatewayShare = ShapeOf<typeof shareSchema>;

/**
 * A share as a gateway stores it. `unreadable`: the name of a field that cannot be read; such a share admits nobody.
 */
const takenShareSchema = Type.Object({ ...shareFields, unreadable: Type.Optional(text()) });
export type ServedShare = ShapeOf<typeof takenShareSchema>;

const logoutSchema = Type.Object({
  /** The provider's `end_session_endpoint`. */
  endpoint: text(),
  clientId: text(),
});
export type GatewayProviderLogout = ShapeOf<typeof logoutSchema>;

const apiKeysSchema = Type.Object({
  placement: oneOf('header', 'query', 'bearer'),
  /** Name of the header or parameter; '' for bearer. */
  name: text(),
  keys: Type.Array(
    Type.Object({
      name: text(),
      /** HMAC-SHA-256 under `GatewayKeys.apiKeyPepper`, in lower-case hex. */
      hmac: text(),
      expiresAtMs: nullable(Type.Number()),
    }),
  ),
});

const tokenIssuerSchema = Type.Object({
  issuer: text(),
  audience: text(),
  /** Asymmetric algorithms only. */
  algorithms: texts(),
  /** Public JWKs. */
  keys: Type.Array(anyObject()),
});
export type GatewayTokenIssuer = ShapeOf<typeof tokenIssuerSchema>;

const providerSchema = Type.Object({
  id: text(),
  frontdoorId: text(),
  name: text(),
  /** One that this version does not know is a value, too. */
  type: word<AuthProviderType>(),
  enabled: flag(),
  /** Incremented when the identities that it proves change. Log-ins of another version have ended. */
  version: count(),
  /** Set for an API_KEY provider. */
  apiKeys: nullable(apiKeysSchema),
  /** Set for a provider whose tokens are accepted from machines; null also while its keys cannot be fetched. */
  tokens: nullable(tokenIssuerSchema),
  /** Where people log out at the provider too; absent if there is no such endpoint, or it is not known. */
  logout: Type.Optional(logoutSchema),
});
export type GatewayProvider = ShapeOf<typeof providerSchema>;

/** The organization of a custom frontend's zone. */
const zoneOwnerSchema = Type.Object({ zone: text(), organizationId: text() });
export type GatewayZoneOwner = ShapeOf<typeof zoneOwnerSchema>;
/** Those of all custom frontends, sent with the zones. */
const zoneOwners = () => Type.Optional(lossyList(zoneList, zoneOwnerSchema));

/** Secrets of the gateways of one installation, kept in memory only and never in the kept file. */
const keysSchema = Type.Object({
  /** Base64. */
  apiKeyPepper: lossyField(keyList, text(), ''),
  /** Keys for the identity headers to origins. The first one, the newest, signs; all are published. */
  identityKeys: lossyField(
    keyList,
    lossyList(
      keyList,
      Type.Object({
        kid: text(),
        /** PKCS#8 PEM, P-256. */
        privateKey: text(),
        publicJwk: anyObject(),
      }),
    ),
    [],
  ),
});
export type GatewayKeys = ShapeOf<typeof keysSchema>;

/** No key fits, and nothing is signed. */
export const NO_GATEWAY_KEYS: GatewayKeys = { apiKeyPepper: '', identityKeys: [] };
const keysField = lossyField(keyList, keysSchema, { apiKeyPepper: '', identityKeys: [] });

const snapshotSchema = Type.Object({
  version: count(),
  /** Identifies one run of the control plane. Versions are comparable only within it. */
  epoch: text(),
  shares: lossyList(shareList, shareSchema),
  /** Whether `shares` events with the others follow. Only gateways that ask for parts get such a snapshot. */
  isContinued: Type.Optional(flag()),
  providers: lossyList(providerList, providerSchema),
  /** Every zone and custom frontend hostname. Log-ins return to `oauth.<zone>`. */
  zones: lossyList(zoneList, text()),
  zoneOwners: zoneOwners(),
  keys: keysField,
});

/** Further shares of a snapshot. */
const sharesSchema = Type.Object({
  shares: lossyList(shareList, shareSchema),
  /** Whether more follow. */
  isContinued: flag(),
});

const deltaSchema = Type.Object({
  version: count(),
  set: lossyList(shareList, shareSchema),
  /** Service ids. */
  removed: texts(),
  providers: Type.Optional(lossyList(providerList, providerSchema)),
  removedProviders: Type.Optional(texts()),
  /** Ids of sessions that have ended. */
  endedSessions: Type.Optional(texts()),
  /** The complete list. */
  zones: Type.Optional(texts()),
  zoneOwners: zoneOwners(),
  keys: Type.Optional(keysField),
});

/** Asks the gateway to repeat a recorded request to the share and to report the result as an inspected request. */
const replaySchema = Type.Object({
  /** Id of the new record. */
  id: text(),
  /** Id of the recorded request. */
  replayOf: text(),
  shareId: text(),
  method: text(),
  target: text(),
  headers: Type.Array(textPair()),
  /** Base64. */
  body: text(),
});

const FEED_EVENTS = {
  snapshot: snapshotSchema,
  shares: sharesSchema,
  delta: deltaSchema,
  heartbeat: Type.Object({}),
  replay: replaySchema,
};

export const gatewayFeedShape = new Shape(variants('type', FEED_EVENTS), {
  name: 'share feed',
  format: 1,
  remedy: 'upgrade this gateway',
});

export type GatewayFeedEvent = ShapeOf<typeof gatewayFeedShape.schema>;
export type GatewaySnapshot = Extract<GatewayFeedEvent, { type: 'snapshot' }>;
export type GatewayShares = Extract<GatewayFeedEvent, { type: 'shares' }>;
export type GatewayDelta = Extract<GatewayFeedEvent, { type: 'delta' }>;
export type GatewayHeartbeat = Extract<GatewayFeedEvent, { type: 'heartbeat' }>;
export type GatewayReplay = Extract<GatewayFeedEvent, { type: 'replay' }>;

/** What a gateway keeps on disk: nothing of it proves who someone is. */
export const keptSharesShape = new Shape(
  Type.Object({
    version: count(),
    epoch: text(),
    shares: lossyList(shareList, takenShareSchema),
    providers: { ...lossyList(providerList, providerSchema), default: [] },
    zones: { ...lossyList(zoneList, text()), default: [] },
    zoneOwners: zoneOwners(),
  }),
  { name: 'kept share list', format: 1, formatField: 'format', remedy: 'the control plane sends a new one' },
);
export type KeptShares = ShapeOf<typeof keptSharesShape.schema>;

/** What any entry of the feed can be known by, however little of it can be read. */
const remainsSchema = Type.Object({
  type: orElse(text(), ''),
  version: Type.Optional(Type.Unknown()),
  id: orElse(text(), ''),
  kid: orElse(text(), ''),
  token: orElse(text(), ''),
  hosts: orElse(lossyList('', text()), []),
  customHosts: orElse(lossyList('', Type.Object({ host: text() })), []),
  frontdoorId: orElse(text(), ''),
  environmentId: orElse(text(), ''),
  updatedAtMs: orElse(Type.Number(), 0),
});
export type FeedRemains = ShapeOf<typeof remainsSchema>;

const readRemains = compileReader(remainsSchema);

/** Returns what can still be read of an invalid event or entry. */
export function remainsOf(entry: unknown): FeedRemains {
  const read = readRemains(entry);
  return 'value' in read ? read.value : remainsOf({});
}

/** Interval of heartbeats. After three missing ones the stream is dead. */
export const GATEWAY_FEED_HEARTBEAT_MS = 5_000;

/** After this time without a message from the control plane, no identity is trusted. */
export const GATEWAY_TRUST_MS = 60_000;
