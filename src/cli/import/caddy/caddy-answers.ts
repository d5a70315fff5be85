/** Answers that Caddy gives itself: texts and redirects become answers of the gateway, refusals become guards. */
import { definedFields } from '#base';
import { isEverything, type CaddyScope } from './caddy-scope.ts';
import type { HandlerPlace } from './caddy-site.ts';

const URI = ['{http.request.uri}', '{http.request.orig_uri}'];
const PATHS = ['{http.request.uri.path}', '{http.request.orig_uri.path}'];

/** Returns true, because requests of the scope have an answer. */
export function addAnswer(place: HandlerPlace): boolean {
  const { handler, scope, site } = place;
  const status = statusOf(place);
  const location = handler.table('headers')?.texts('Location')[0];
  if (handler.flag('abort') === true || (status !== undefined && status >= 400)) return refuse(place);
  if (status === undefined && handler.has('status_code')) {
    handler.remark('status_code', 'Left out, because a status is a number.');
    site.guard(handler, 'status_code', 'Caddy answered some requests itself');
    return true;
  }
  if (scope.isOther === true || scope.from !== undefined || scope.notFrom !== undefined) {
    site.guard(handler, '', 'Caddy answered some requests itself, and did not ask the service');
    return true;
  }
  if (isEverything(scope) && site.root !== undefined) {
    handler.remark('', 'Left out, because the share refuses clients of other networks itself.');
    return true;
  }
  const path = scope.path ?? '/*';
  const text = handler.text('body') ?? '';
  const redirectTo = location === undefined ? undefined : addressOf(place, path, location);
  if (redirectTo?.includes('{') === true || (location === undefined && text.includes('{http.'))) {
    handler.remark('', 'Left out, because answers of a gateway are fixed: see upstream.answers.');
    site.guard(handler, '', 'Caddy answered some requests itself, and did not ask the service');
    return true;
  }
  const contentType = handler.table('headers')?.texts('Content-Type')[0];
  site.answer(
    handler,
    definedFields({
      path: path.endsWith('*') ? path.replace(/\/?\*$/, '/*') : path,
      text: redirectTo === undefined ? text : undefined,
      contentType: redirectTo === undefined ? contentType : undefined,
      redirectTo,
      status: status === (redirectTo === undefined ? 200 : 302) ? undefined : status,
    }),
  );
  return true;
}

function statusOf({ handler }: HandlerPlace): number | undefined {
  const text = handler.plain('status_code');
  return text !== undefined && /^[1-5][0-9]{2}$/.test(text) ? Number(text) : undefined;
}

/** `{uri}` at the end means the requested path, as `/*` at the end of an address of Frontdoor does for what is below a path. */
function addressOf({ chain }: HandlerPlace, path: string, location: string): string {
  const placeholder = [...URI, ...PATHS].find((each) => location.endsWith(each));
  if (placeholder === undefined) return location;
  const address = location.slice(0, -placeholder.length);
  const kept = placeholder.includes('orig_uri') ? path : path.slice(chain.stripped.length);
  return address + kept.replace(/\/?\*$/, '/*');
}

/** A refusal of all requests is the end of the list. One of some requests closes the share until someone has looked at it. */
export function refuse({ handler, route, scope, site }: HandlerPlace): boolean {
  if (isEverything(scope)) return true;
  const { path, from, notFrom, isOther } = scope;
  if (isOther === undefined && path === undefined && (from === undefined) !== (notFrom === undefined)) {
    if (notFrom !== undefined) site.allow(route, notFrom);
    else site.deny(route, from!);
    return true;
  }
  site.guard(handler, '', 'Caddy refused some requests');
  if (isPathOnly(scope))
    site.answer(handler, {
      path: path!.replace(/\/?\*$/, '/*'),
      text: fixedText(handler.text('body')),
      status: refusalStatus(handler.plain('status_code')),
    });
  return true;
}

function isPathOnly({ path, from, notFrom, isOther }: CaddyScope): boolean {
  return path !== undefined && from === undefined && notFrom === undefined && isOther === undefined;
}

function refusalStatus(text: string | undefined): number {
  return text !== undefined && /^[45][0-9]{2}$/.test(text) ? Number(text) : 403;
}

function fixedText(text = ''): string {
  return text.includes('{http.') ? '' : text;
}
