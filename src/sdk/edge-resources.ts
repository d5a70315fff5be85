/**
 * What the edge client API answers, as far as our own clients read it: OpenZiti's field names, and what its controllers
 * leave out has defaults. Unknown fields are ignored.
 */
import { compileReader, Part, Type, type ShapeOf } from '#base/shapes';

const { anyObject, flag, lossyList, mapOf, orElse, text, texts, withDefault, word } = Part;

/** OpenZiti's controllers send null, or nothing, for some of what they do not know. */
const protocolsSchema = Type.Object({ tls: Type.Optional(text()) });

const routerSchema = Type.Object({
  name: text(),
  isOnline: orElse(flag(), false),
  cost: orElse(Part.count(), 0),
  supportedProtocols: orElse(protocolsSchema, {}),
});

export interface EdgeRouterAddress {
  readonly name: string;
  readonly isOnline: boolean;
  /** What an operator adds to the cost of circuits through it; 0 by default. */
  readonly cost: number;
  /** `tls://host:port`; absent while the router has announced no listener. */
  readonly tlsUrl: string | undefined;
}

export const readEdgeRouters = compileReader(lossyList('routers', routerSchema));

export function routerAddressOf(router: ShapeOf<typeof routerSchema>): EdgeRouterAddress {
  const { name, isOnline, cost, supportedProtocols } = router;
  return { name, isOnline, cost, tlsUrl: supportedProtocols.tls };
}

const controllerSchema = Type.Object({
  isOnline: orElse(flag(), true),
  /** By API; SDKs use that of `edge-client`. */
  apiAddresses: orElse(mapOf(Type.Array(Type.Object({ url: text(), version: text() }))), {}),
});

export const readEdgeControllers = compileReader(lossyList('controllers', controllerSchema));

/** Addresses of the edge client API of these controllers, with its path. */
export function clientApiUrlsOf(controllers: readonly ShapeOf<typeof controllerSchema>[]): string[] {
  return controllers.flatMap(({ apiAddresses }) =>
    (apiAddresses['edge-client'] ?? []).filter(({ version }) => version === 'v1').map(({ url }) => url),
  );
}

const serviceSchema = Type.Object({
  id: text(),
  /** The share's token. */
  name: text(),
  permissions: withDefault(Type.Array(word('Dial', 'Bind')), []),
  encryptionRequired: withDefault(flag(), false),
  /** By config type; `host.v1` for services that this identity may bind. */
  config: orElse(anyObject(), {}),
  /** A share of our control plane has its `backendMode` here. */
  tags: orElse(anyObject(), {}),
  updatedAt: withDefault(text(), ''),
});
export type EdgeService = ShapeOf<typeof serviceSchema>;

export const readEdgeServices = compileReader(lossyList('services', serviceSchema));

const terminatorSchema = Type.Object({
  id: text(),
  /** Its address; empty for a host without one. */
  identity: orElse(text(), ''),
  routerId: orElse(text(), ''),
});
export type EdgeTerminatorAddress = ShapeOf<typeof terminatorSchema>;

export const readTerminators = compileReader(lossyList('terminators', terminatorSchema));

/** What an identity sets about its hosts. */
const precedence = () => Part.oneOf('default', 'required', 'failed');

/** An API session, whose token channels to routers present. */
const sessionSchema = Type.Object({
  id: text(),
  token: text(),
  identityId: text(),
  expiresAt: text(),
  isCertExtendRequested: orElse(Type.Boolean(), false),
});
export type EdgeSession = ShapeOf<typeof sessionSchema>;

export const readEdgeSession = compileReader(sessionSchema);

export const readServiceSession = compileReader(
  Type.Object({
    id: text(),
    token: text(),
    edgeRouters: orElse(lossyList('routers', routerSchema), []),
  }),
);

/** Permission to dial or bind one service, which Connect and Bind carry. */
export interface ServiceSession {
  readonly id: string;
  readonly token: string;
  readonly serviceId: string;
  readonly type: 'Dial' | 'Bind';
  readonly routers: readonly EdgeRouterAddress[];
}

const versionSchema = Type.Object({ version: text(), capabilities: withDefault(texts(), []) });
export type EdgeVersion = ShapeOf<typeof versionSchema>;

export const readEdgeVersion = compileReader(versionSchema);
const identitySchema = Type.Object({
  id: text(),
  name: text(),
  appData: orElse(anyObject(), {}),
  /** For services that have no value of their own below. */
  defaultHostingCost: orElse(Part.count(), 0),
  defaultHostingPrecedence: orElse(precedence(), 'default'),
  /** By the id of a service: these win over its config. */
  serviceHostingCosts: orElse(mapOf(Part.count()), {}),
  serviceHostingPrecedences: orElse(mapOf(precedence()), {}),
});
export type EdgeIdentity = ShapeOf<typeof identitySchema>;

export const readEdgeIdentity = compileReader(identitySchema);
export const readServiceUpdates = compileReader(Type.Object({ lastChangeAt: text() }));
export const readExtendedCertificate = compileReader(Type.Object({ cert: text() }));

/** Beside a page of a list. */
export const readPageMeta = compileReader(
  Type.Object({
    meta: Type.Object({ pagination: Type.Object({ totalCount: Type.Integer() }) }),
  }),
);
