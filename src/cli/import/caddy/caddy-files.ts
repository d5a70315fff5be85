/** Folders that Caddy serves, and what changes the path of requests before they reach a service. */
import { basename, isAbsolute } from 'node:path';
import { folderTarget } from '#domain/backend-modes';
import { isEverything } from './caddy-scope.ts';
import type { SourceTable } from '../source-table.ts';
import { ALL_REQUESTS, type CaddyChain, type HandlerPlace } from './caddy-site.ts';

const URI = '{http.request.uri}';
const FOUND_FILE = '{http.matchers.file.relative}';
const REQUESTED = ['{http.request.uri.path}', '{http.request.uri.path}/'];
const INDEX = ['/index.html', 'index.html'];

export function addFiles(place: HandlerPlace): boolean {
  const { handler, chain, site } = place;
  const root = handler.text('root') ?? chain.folder;
  handler.ignore('handler', 'precompressed', 'precompressed_order', 'canonical_uris', 'etag_file_extensions');
  handler.leave('pass_thru', 'Left out: the paths that the folder does not have get 404.');
  handler.leave('index_names', 'A folder is answered with its index.html.');
  handler.leave('status_code', 'Left out, because files are served with 200.');
  if (root === undefined || !isAbsolute(root) || root.includes('{')) {
    handler.remark('', 'Left out, because a folder has an absolute path: add file:///FOLDER as a target.');
    return true;
  }
  const folder = root.length > 1 ? root.replace(/\/$/, '') : root;
  const isHidden = handler.texts('hide').some((name) => !isNotServed(name, folder));
  if (isHidden)
    site.guard(
      handler,
      'hide',
      'Caddy hid files of the folder, and an agent serves all but those that begin with a dot',
    );
  const options = [
    ...(handler.has('browse') ? ['listing'] : []),
    ...(chain.isSinglePage ? ['single-page'] : []),
  ];
  handler.ignore('browse', 'hide', 'root');
  handler.leaveOthers();
  site.serve(place, folderTarget(folder, options), () => {});
  return true;
}

/** Whether an agent does not serve the file either. A relative path is one of the folder that Caddy runs in. */
function isNotServed(name: string, folder: string): boolean {
  if (basename(name).startsWith('.')) return true;
  if (name === './Caddyfile') return true;
  return isAbsolute(name) && !name.startsWith(folder === '/' ? folder : `${folder}/`);
}

/** `rewrite` and `vars`, which later handlers depend on. */
export function addRewrite(place: HandlerPlace): void {
  const { handler, scope, chain, site } = place;
  handler.ignore('handler');
  if (handler.text('handler') === 'vars') {
    const folder = handler.text('root');
    if (folder !== undefined && isForOthers(place)) handler.remark('root', ALL_REQUESTS);
    else if (folder !== undefined) chain.folder = folder;
    handler.leaveOthers('Values of a share are fixed texts: let the service set it.');
    return;
  }
  const strip = handler.text('strip_path_prefix');
  const uri = handler.text('uri');
  if (strip !== undefined) addStripped(place, strip);
  const base = uri?.endsWith(URI) === true ? uri.slice(0, -URI.length) : undefined;
  if (base !== undefined && !base.includes('{') && scope.isOther !== true && !isForOthers(place))
    chain.base = base + chain.base;
  else if (uri !== undefined || handler.has('path_regexp') || handler.has('uri_substring')) {
    handler.remark(
      '',
      'Left out, because a share changes no paths but their beginning: let the service do it.',
    );
    site.guard(handler, '', 'Caddy changed the paths of requests, so that the service got some only');
  }
  handler.ignore('path_regexp', 'uri_substring');
  handler.leaveOthers(ALL_REQUESTS);
}

/** Whether the handler is for some requests, and those that follow in the file are for more. */
function isForOthers({ handler, route, scope }: HandlerPlace): boolean {
  const isLast = Number(handler.path.at(-1)) === route.tables('handle').length - 1;
  return isLast && route.has('match') && !isEverything(scope);
}

function addStripped(place: HandlerPlace, strip: string): void {
  const { handler, scope, chain } = place;
  const prefix = scope.path?.replace(/\/?\*$/, '');
  if (prefix === strip && chain.stripped === '' && !isForOthers(place)) chain.stripped = strip;
  else
    handler.remark(
      'strip_path_prefix',
      'Left out, because only the path of a route can be removed (stripPath).',
    );
}

/** `try_files {path} /index.html` means a page for every path. Returns whether the route is `try_files`. */
export function addTryFiles(route: SourceTable, chain: CaddyChain): boolean {
  const [set, ...otherSets] = route.tables('match');
  const [handler, ...otherHandlers] = route.tables('handle');
  const file = set?.keys.join() === 'file' ? set.table('file') : undefined;
  const isAlone = otherSets.length + otherHandlers.length === 0;
  if (file === undefined || !isAlone || handler?.text('uri') !== FOUND_FILE) return false;
  const names = file.texts('try_files');
  const isUsual =
    file.keys.length === 1 &&
    INDEX.includes(names.at(-1) ?? '') &&
    names.slice(0, -1).every((name) => REQUESTED.includes(name));
  if (isUsual) chain.isSinglePage = true;
  else handler.remark('', 'Left out: see the target with single-page (docs/guide/shared-folders.md).');
  return true;
}
