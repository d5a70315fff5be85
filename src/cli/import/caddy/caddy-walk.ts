/** Follows the routes of a server of Caddy for one host, in their order, as a request would pass them. */
import type { SourceTable } from '../source-table.ts';
import { addAnswer, refuse } from './caddy-answers.ts';
import { addFiles, addRewrite, addTryFiles } from './caddy-files.ts';
import { addAuthentication, addCompression, addHeaders } from './caddy-settings.ts';
import { addProxy } from './caddy-proxy.ts';
import { isEverything, narrowed, scopesOf, type CaddyScope } from './caddy-scope.ts';
import { NO_ERROR_ROUTES, type CaddyChain, type CaddySite, type HandlerPlace } from './caddy-site.ts';

/** Handlers that neither answer nor refuse a request. Others that are not read, such as those of plug-ins, may be guards. */
const HARMLESS: Readonly<Record<string, string>> = {
  map: 'Values of a share are fixed texts: let the service set it.',
  templates: 'Frontdoor fills in no templates: let the service do it.',
  push: 'Browsers no longer support server push.',
  tracing: 'Frontdoor has no such setting: let the service do it.',
  log_append: 'The fields of access logs are fixed.',
  request_body: 'Frontdoor limits no body of a request: let the service do it.',
  metrics: 'See the guide to metrics (docs/guide/metrics.md).',
  acme_server: 'Frontdoor is no certificate authority: keep Caddy for it.',
  rate_limit: 'Set rateLimit of policy.',
  intercept: NO_ERROR_ROUTES,
};

export class CaddyWalk {
  readonly #server: SourceTable;
  readonly #visits: { left: number };

  /** `visits` counts the routes and handlers of the whole file that may still be visited. */
  constructor(server: SourceTable, visits: { left: number }) {
    this.#server = server;
    this.#visits = visits;
  }

  follow(site: CaddySite): void {
    const chain: CaddyChain = { stripped: '', base: '', folder: undefined, isSinglePage: false };
    this.#routes(this.#server.tables('routes'), {}, chain, site);
  }

  /** Returns whether all requests of the scope have been answered. */
  #routes(routes: readonly SourceTable[], scope: CaddyScope, chain: CaddyChain, site: CaddySite): boolean {
    const taken = new Set<string>();
    for (const route of routes) {
      if (!this.#mayVisit(route)) return true;
      const group = route.text('group');
      if (group !== undefined && taken.has(group)) continue;
      if (addTryFiles(route, chain)) continue;
      for (const own of scopesOf(route, site.host)) {
        const isForAll = isEverything(own);
        // What a route for some requests sets is for what is inside of it.
        const inner = isForAll ? chain : Object.assign({}, chain);
        const isDone = this.#handlers(route, narrowed(scope, own, chain.stripped), inner, site);
        if (!isForAll) continue;
        if (isDone || route.flag('terminal') === true) return true;
        if (group !== undefined) taken.add(group);
      }
    }
    return false;
  }

  #handlers(route: SourceTable, scope: CaddyScope, chain: CaddyChain, site: CaddySite): boolean {
    for (const handler of route.tables('handle')) {
      if (!this.#mayVisit(handler)) return true;
      if (this.#handler({ handler, route, scope, chain, site })) return true;
    }
    return false;
  }

  #mayVisit(table: SourceTable): boolean {
    this.#visits.left -= 1;
    if (this.#visits.left === 0)
      table.notes.problem(table.path, 'is one route or handler too many: import the sites in several files');
    return this.#visits.left > 0;
  }

  #handler(place: HandlerPlace): boolean {
    const { handler, scope, chain, site } = place;
    const type = handler.text('handler') ?? '';
    switch (type) {
      case 'subroute':
        handler.leave('errors', NO_ERROR_ROUTES);
        return this.#routes(handler.tables('routes'), scope, chain, site);
      case 'invoke': {
        const named = this.#server.table('named_routes')?.table(handler.text('name') ?? '');
        return named !== undefined && this.#routes([named], scope, chain, site);
      }
      case 'reverse_proxy':
        return addProxy(place);
      case 'file_server':
        return addFiles(place);
      case 'static_response':
        return addAnswer(place);
      case 'error':
        return refuse(place);
      case 'headers':
        addHeaders(place);
        return false;
      case 'encode':
        addCompression(place);
        return false;
      case 'authentication':
        addAuthentication(place);
        return false;
      case 'rewrite':
      case 'vars':
        addRewrite(place);
        return false;
      default:
        if (Object.hasOwn(HARMLESS, type)) handler.remark('', HARMLESS[type]!);
        else site.guard(handler, 'handler', 'Caddy had a handler that may refuse requests');
        return false;
    }
  }
}
