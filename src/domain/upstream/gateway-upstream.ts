/** The part of a share's upstream settings that gateways need, in the form in which they apply it. */
import { definedFields } from '#base';
import { Part, Type, type ShapeOf } from '#base/shapes';
import { BACKEND_MODE_TABLE, type BackendMode } from '../backend-mode-table.ts';
import { parseShareTarget } from '../share-target.ts';
import { serviceHostOf } from './host-header.ts';
import { gatewayMaintenanceOf, gatewayMaintenanceSchema } from './maintenance.ts';
import { gatewayAnswerOf, gatewayAnswerSchema } from './own-answers.ts';
import type { ShareUpstream } from './share-upstream.ts';
import { DEFAULT_TARGET_TIMES } from './target-times.ts';

/** A newer action is no word of this version: the share is closed rather than served without it. */
const headerChangeSchema = Type.Object({
  action: Part.oneOf('set', 'add', 'remove'),
  name: Part.someText(),
  /** Absent for `remove`. */
  value: Type.Optional(Part.text()),
});

/** Absent fields have no effect, so that older control planes need not send them. */
export const gatewayUpstreamSchema = Type.Object({
  /** The host by which the service knows itself; absent: that of the client's request. */
  host: Type.Optional(
    Type.Object({
      scheme: Part.oneOf('http', 'https'),
      authority: Part.someText(),
      aliases: Part.texts(),
    }),
  ),
  /** The path of the target, below which requests reach the service; absent: there is none. */
  path: Type.Optional(Part.someText()),
  /** Whether responses may have obsolete forms. */
  isLenient: Type.Optional(Type.Boolean()),
  /** How long a response may continue without a byte; absent: the limit of the gateway. */
  idleMs: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Codings with which responses are compressed, the preferred one first. Those of newer versions are left out. */
  compression: Type.Optional(Type.Array(Part.text())),
  /** Changes of headers, in the order of the settings; absent: none. */
  requestHeaders: Type.Optional(Type.Array(headerChangeSchema)),
  responseHeaders: Type.Optional(Type.Array(headerChangeSchema)),
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
  if (BACKEND_MODE_TABLE[backendMode].speaks !== 'http') return undefined;
  const { hostHeader, lenient, compression, idleTimeoutSeconds } = settings;
  const { requestHeaders, responseHeaders, answers } = settings;
  const part = definedFields({
    host: serviceHostOf(hostHeader, target),
    path: pathOfTarget(target),
    isLenient: lenient || undefined,
    compression: compression.length === 0 ? undefined : compression,
    idleMs:
      idleTimeoutSeconds === DEFAULT_TARGET_TIMES.idleTimeoutSeconds ? undefined : idleTimeoutSeconds * 1_000,
    requestHeaders: requestHeaders.length === 0 ? undefined : requestHeaders,
    responseHeaders: responseHeaders.length === 0 ? undefined : responseHeaders,
    answers: answers.length === 0 ? undefined : answers.map(gatewayAnswerOf),
    maintenance: gatewayMaintenanceOf(settings),
    errorPage: settings.errorPage ?? undefined,
  });
  return Object.keys(part).length === 0 ? undefined : part;
}

function pathOfTarget(target: string): string | undefined {
  const parsed = parseShareTarget(target);
  return parsed !== undefined && 'path' in parsed && parsed.path !== '' ? parsed.path : undefined;
}
