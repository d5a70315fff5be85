/**
 * How requests of a share reach its service: one schema for the API, the store and agents. A new field needs its row here, its
 * default, and what gateways (`gateway-upstream.ts`) make of it. ADR 0087.
 */
import { compileReader, Part, Type, type ShapeOf } from '#base/shapes';
import { compressionFields, compressionRule } from './compression.ts';
import { ERROR_PAGE_RULE, errorPageField, isErrorPage } from './error-page.ts';
import { headerRuleProblem, headerRules } from './header-rules.ts';
import { HOST_HEADER_RULE, parseHostHeader } from './host-header.ts';
import { proxyProtocolFields } from './proxy-protocol.ts';
import { routeProblem, shareRoutes } from './share-targets.ts';
import { changedTargetTimes, DEFAULT_TARGET_TIMES, targetTimeFields } from './target-times.ts';
import {
  changedMaintenance,
  DEFAULT_MAINTENANCE,
  maintenanceFields,
  maintenanceProblem,
} from './maintenance.ts';
import { ownAnswerProblem, ownAnswers } from './own-answers.ts';
import { changedTargetTls, DEFAULT_TARGET_TLS, targetTlsFields, targetTlsProblems } from './target-tls.ts';

/** Formats are those of the contract, which checks them; `checkUpstream` does for the other sources. */
export const shareUpstreamFields = {
  hostHeader: Type.String({
    format: 'upstream-host',
    description:
      'Host header of requests to the service. `preserve`: the host that the client requested; `target`: the host of the target; otherwise this name, with or without a port',
  }),
  lenient: Type.Boolean({
    description:
      'Whether responses may have obsolete forms that old devices send: lines that end without CR, headers that continue on the next line, a space before a colon, the same Content-Length twice. The gateway corrects them',
  }),
  requestHeaders: headerRules('Headers that are set, added or removed in requests to the service'),
  responseHeaders: headerRules(
    "Headers that are set, added or removed in the service's responses to clients",
  ),
  ...compressionFields,
  ...targetTimeFields,
  ...proxyProtocolFields,
  routes: shareRoutes,
  answers: ownAnswers,
  ...maintenanceFields,
  errorPage: errorPageField,
  ...targetTlsFields,
};

const wholeSchema = Part.closed(shareUpstreamFields);
export type ShareUpstream = ShapeOf<typeof wholeSchema>;

/** Absent fields keep their values, or have their defaults if everything is replaced. */
export const upstreamChangeSchema = Part.closed(Part.optional(shareUpstreamFields));
export type ShareUpstreamChange = ShapeOf<typeof upstreamChangeSchema>;

export const DEFAULT_UPSTREAM: ShareUpstream = {
  hostHeader: 'preserve',
  lenient: false,
  requestHeaders: [],
  responseHeaders: [],
  compression: [],
  ...DEFAULT_TARGET_TIMES,
  proxyProtocol: 'off',
  routes: [],
  answers: [],
  ...DEFAULT_MAINTENANCE,
  errorPage: null,
  ...DEFAULT_TARGET_TLS,
};

/** A field that another version stored is not in the schema, and dropped. */
const readStored = compileReader(Type.Object(Part.optional(shareUpstreamFields)));

/** Returns the settings of a stored text, or undefined if it cannot be read. */
export function storedUpstream(text: string): ShareUpstream | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const read = readStored(value);
  if (!('value' in read) || checkUpstream(read.value).length > 0) return undefined;
  return changedUpstream(DEFAULT_UPSTREAM, read.value);
}

/** `change` has passed `checkUpstream`. */
export function changedUpstream(before: ShareUpstream, change: ShareUpstreamChange): ShareUpstream {
  const { hostHeader, lenient, requestHeaders, responseHeaders, routes, answers } = change;
  return {
    hostHeader: hostHeader === undefined ? before.hostHeader : parseHostHeader(hostHeader)!,
    lenient: lenient ?? before.lenient,
    requestHeaders: requestHeaders ?? before.requestHeaders,
    responseHeaders: responseHeaders ?? before.responseHeaders,
    compression: change.compression ?? before.compression,
    ...changedTargetTimes(before, change),
    proxyProtocol: change.proxyProtocol ?? before.proxyProtocol,
    routes: routes ?? before.routes,
    answers: answers ?? before.answers,
    ...changedMaintenance(before, change),
    errorPage: change.errorPage === undefined ? before.errorPage : change.errorPage,
    ...changedTargetTls(before, change),
  };
}

/** The fields of both have one order, because `changedUpstream` made them. */
export function isSameUpstream(a: ShareUpstream, b: ShareUpstream): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Whether settings have the wanted fields. Absent settings are the defaults. */
export function hasUpstream(settings: ShareUpstreamChange, wanted: ShareUpstreamChange): boolean {
  const standing = changedUpstream(DEFAULT_UPSTREAM, settings);
  return isSameUpstream(changedUpstream(standing, wanted), standing);
}

/** The fields that are set and have no effect for a private share, because no gateway is between it and its callers. */
export function gatewayOnlyFields({
  routes,
  answers,
  maintenance,
  errorPage,
}: ShareUpstream): readonly string[] {
  const set = {
    routes: routes.length > 0,
    answers: answers.length > 0,
    maintenance,
    errorPage: errorPage !== null,
  };
  return Object.entries(set).flatMap(([name, isSet]) => (isSet ? [name] : []));
}

/** The fields that are set and have no effect where no HTTP is spoken. */
export function httpOnlyFields(settings: ShareUpstream): readonly string[] {
  const { hostHeader, lenient, requestHeaders, responseHeaders, compression } = settings;
  const { routes, answers, errorPage } = settings;
  const set = {
    hostHeader: hostHeader !== DEFAULT_UPSTREAM.hostHeader,
    lenient,
    requestHeaders: requestHeaders.length > 0,
    responseHeaders: responseHeaders.length > 0,
    compression: compression.length > 0,
    routes: routes.length > 0,
    answers: answers.length > 0,
    errorPage: errorPage !== null,
  };
  return Object.entries(set).flatMap(([name, isSet]) => (isSet ? [name] : []));
}

/** A setting that is not valid, by its field and the rule that it breaks, which completes "must be …". */
export interface UpstreamProblem {
  readonly field: string;
  readonly rule: string;
}

/** Checks what the schema does not express, for settings from a file or a command line as well. */
export function checkUpstream(change: ShareUpstreamChange): readonly UpstreamProblem[] {
  const { hostHeader } = change;
  const isHost = hostHeader === undefined || parseHostHeader(hostHeader) !== undefined;
  const found: UpstreamProblem[] = isHost ? [] : [{ field: 'hostHeader', rule: HOST_HEADER_RULE }];
  const lists = {
    requestHeaders: headerRuleProblem(change.requestHeaders ?? []),
    responseHeaders: headerRuleProblem(change.responseHeaders ?? []),
    routes: routeProblem(change.routes ?? []),
    answers: ownAnswerProblem(change.answers ?? []),
  };
  for (const [name, problem] of Object.entries(lists)) {
    if (problem === undefined) continue;
    const { place, rule } = problem;
    found.push({ field: place === '' ? name : `${name}.${place}`, rule });
  }
  const compression = compressionRule(change.compression ?? []);
  if (compression !== undefined) found.push({ field: 'compression', rule: compression });
  const maintenance = maintenanceProblem(change);
  if (maintenance !== undefined) found.push({ field: 'maintenanceText', rule: maintenance });
  if (typeof change.errorPage === 'string' && !isErrorPage(change.errorPage))
    found.push({ field: 'errorPage', rule: ERROR_PAGE_RULE });
  found.push(...targetTlsProblems(change));
  return found;
}
