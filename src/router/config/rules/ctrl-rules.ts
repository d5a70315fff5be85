/** Rules of `ctrl` and of certificate requests that concern several fields. */
import { dirname, join, resolve } from 'node:path';
import { placeAt } from '../file-tree.ts';
import type { Draft, RuleContext } from './draft.ts';
import type { RouterFile } from '../schema/router-file-schema.ts';

/** Names of endpoints files in folders of older configurations. */
export const OLD_ENDPOINTS_FILE = 'endpoints';
export const ENDPOINTS_FILE = 'endpoints.yml';

export function checkCtrl({ draft, root, problems, file, exists }: RuleContext): void {
  const { ctrl } = draft;
  if (ctrl === undefined) return;
  const isGiven = (key: string): boolean => placeAt(root, `ctrl.${key}`).node !== undefined;
  const named =
    isGiven('endpoint') ||
    (isGiven('endpoints') && ctrl.endpoints?.length !== 0) ||
    (isGiven('listeners') && ctrl.listeners?.length !== 0);
  if (!named) {
    const folder = dirname(file);
    const files =
      ctrl.endpointsFile === undefined
        ? [join(folder, ENDPOINTS_FILE), join(folder, OLD_ENDPOINTS_FILE)]
        : [resolve(ctrl.endpointsFile)];
    if (!files.some(exists))
      problems.error(
        'ctrl.endpoint',
        'required',
        'is missing: endpoint, endpoints, listeners or an endpoints file must name controllers',
      );
  }
  const { minSize, maxSize } = ctrl.rateLimiter ?? {};
  if (minSize !== undefined && maxSize !== undefined && minSize > maxSize) {
    const key = isGiven('rateLimiter.minSize') ? 'minSize' : 'maxSize';
    problems.error(`ctrl.rateLimiter.${key}`, 'order', `the window is from ${minSize} to ${maxSize}`);
  }
}

/** The certificate request of the root has precedence over that of `edge`. */
export function csrPathOf(draft: Draft<RouterFile>): 'csr' | 'edge.csr' {
  return draft.csr === undefined && draft.edge !== undefined ? 'edge.csr' : 'csr';
}

export function checkCsr({ draft, problems }: RuleContext): void {
  const path = csrPathOf(draft);
  const csr = draft.csr ?? draft.edge?.csr;
  if (draft.csr !== undefined && draft.edge?.csr !== undefined)
    problems.warning('edge.csr', 'ignored', 'is ignored: there is a csr at the root');
  // Errors of the section were reported before, and its missing values are unknown.
  if (problems.hasErrorWithin(path)) return;
  if (csr === undefined)
    problems.warning(path, 'csr', 'is missing: this router cannot enroll or renew its certificates');
  const isDialed =
    (draft.link?.listeners?.length ?? 0) > 0 ||
    draft.listeners?.some((listener) => listener?.binding === 'edge') === true;
  const { dns = [], ip = [], uri = [], email = [] } = csr?.sans ?? {};
  if (!isDialed || dns.length + ip.length + uri.length + email.length > 0) return;
  const words = 'names nothing: who dials a listener of this router checks its name';
  problems.report(csr === undefined ? 'warning' : 'error', `${path}.sans`, 'sans', words);
}
