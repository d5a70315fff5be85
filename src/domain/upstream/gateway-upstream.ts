/** The part of a share's upstream settings that gateways need, in the form in which they apply it. */
import { definedFields } from '#base';
import { Part, Type, type ShapeOf } from '#base/shapes';
import { BACKEND_MODE_TABLE, schemeFacts, type BackendMode } from '../backend-mode-table.ts';
import { parseShareTarget, type ShareTarget } from '../share-target.ts';
import { serviceHostOf } from './host-header.ts';
import { gatewayMaintenanceOf, gatewayMaintenanceSchema } from './maintenance.ts';
import { gatewayAnswerOf, gatewayAnswerSchema } from './own-answers.ts';
import { routeTarget, type ShareRouteSetting } from './share-targets.ts';
import type { ShareUpstream } from './share-upstream.ts';
import { DEFAULT_TARGET_TIMES } from './target-times.ts';

/** A newer action is no word of this version: the share is closed rather than served without it. */
const headerChangeSchema = Type.Object({
  action: Part.oneOf('set', 'add', 'remove'),
  name: Part.someText(),
  /** Absent for `remove`. */
  value: Type.Optional(Part.text()),
});

const serviceHostSchema = Type.Object({
  scheme: Part.oneOf('http', 'https'),
  authority: Part.someText(),
  aliases: Part.texts(),
});

/** For a service that speaks HTTP/2: the scheme of requests to it. Absent: it speaks HTTP/1.1. */
const http2Schema = Type.Optional(Part.oneOf('http', 'https'));

/** Another target of the share for the paths below `path`, instead of `host` and `path` of the share itself. */
const gatewayRouteSchema = Type.Object({
  path: Part.someText(),
  /** Whether the service gets requests without the path. */
  isStripped: Type.Optional(Type.Boolean()),
  host: Type.Optional(serviceHostSchema),
  servicePath: Type.Optional(Part.someText()),
  http2: http2Schema,
});
export type GatewayPathTarget = ShapeOf<typeof gatewayRouteSchema>;

/** Absent fields have no effect, so that older control planes need not send them. */
export const gatewayUpstreamSchema = Type.Object({
  /** The host by which the service knows itself; absent: that of the client's request. */
  host: Type.Optional(serviceHostSchema),
  /** The path of the target, below which requests reach the service; absent: there is none. */
  path: Type.Optional(Part.someText()),
  http2: http2Schema,
  /** Whether responses may have obsolete forms. */
  isLenient: Type.Optional(Type.Boolean()),
  /** How long a response may continue without a byte; absent: the limit of the gateway. */
  idleMs: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Whether each circuit is dialed for one client, which the dial names, and serves no other. */
  namesClient: Type.Optional(Type.Boolean()),
  /** Codings with which responses are compressed, the preferred one first. Those of newer versions are left out. */
  compression: Type.Optional(Type.Array(Part.text())),
  /** Changes of headers, in the order of the settings; absent: none. */
  requestHeaders: Type.Optional(Type.Array(headerChangeSchema)),
  responseHeaders: Type.Optional(Type.Array(headerChangeSchema)),
  /** Absent: none. */
  routes: Type.Optional(Type.Array(gatewayRouteSchema)),
  /** Absent: none. */
  answers: Type.Optional(Type.Array(gatewayAnswerSchema)),
  /** Set during maintenance. */
  maintenance: Type.Optional(gatewayMaintenanceSchema),
  /** HTML with placeholders; absent: the gateway's own. */
  errorPage: Type.Optional(Part.someText()),
});
export type GatewayUpstream = ShapeOf<typeof gatewayUpstreamSchema>;

interface ServedTarget {
  readonly backendMode: BackendMode;
  readonly target: string;
}

/** Returns undefined if the settings change nothing at gateways. */
export function gatewayUpstreamOf(
  settings: ShareUpstream,
  { backendMode, target }: ServedTarget,
): GatewayUpstream | undefined {
  const { hostHeader, lenient, compression, idleTimeoutSeconds, proxyProtocol } = settings;
  const idleMs =
    idleTimeoutSeconds === DEFAULT_TARGET_TIMES.idleTimeoutSeconds ? undefined : idleTimeoutSeconds * 1_000;
  // What concerns heads has no effect where no HTTP is spoken.
  if (BACKEND_MODE_TABLE[backendMode].speaks !== 'http') {
    const maintenance = gatewayMaintenanceOf(settings);
    const part = definedFields({ namesClient: proxyProtocol !== 'off' || undefined, idleMs, maintenance });
    return Object.keys(part).length === 0 ? undefined : part;
  }
  const { requestHeaders, responseHeaders, routes, answers } = settings;
  const parsed = parseShareTarget(target);
  const part = definedFields({
    host: serviceHostOf(hostHeader, target),
    path: servicePathOf(parsed),
    http2: http2Of(parsed),
    isLenient: lenient || undefined,
    namesClient: proxyProtocol !== 'off' || undefined,
    compression: compression.length === 0 ? undefined : compression,
    idleMs,
    requestHeaders: requestHeaders.length === 0 ? undefined : requestHeaders,
    responseHeaders: responseHeaders.length === 0 ? undefined : responseHeaders,
    routes: routes.length === 0 ? undefined : routes.map((route) => gatewayRouteOf(route, hostHeader)),
    answers: answers.length === 0 ? undefined : answers.map(gatewayAnswerOf),
    maintenance: gatewayMaintenanceOf(settings),
    errorPage: settings.errorPage ?? undefined,
  });
  return Object.keys(part).length === 0 ? undefined : part;
}

function http2Of(parsed: ShareTarget | undefined): 'http' | 'https' | undefined {
  const { isHttp2, isTls } = schemeFacts(parsed?.url ?? '');
  if (!isHttp2) return undefined;
  return isTls ? 'https' : 'http';
}

function servicePathOf(parsed: ShareTarget | undefined): string | undefined {
  return parsed !== undefined && 'path' in parsed && parsed.path !== '' ? parsed.path : undefined;
}

function gatewayRouteOf(route: ShareRouteSetting, hostHeader: string): GatewayPathTarget {
  const { path, target, stripPath = false } = route;
  const parsed = parseShareTarget(target);
  return {
    path,
    ...definedFields({
      isStripped: stripPath || undefined,
      host: routeTarget(route) && serviceHostOf(hostHeader, target),
      servicePath: servicePathOf(parsed),
      http2: http2Of(parsed),
    }),
  };
}
