/** Rules of `link`, `identity` and `web` that concern several fields. */
import { placeAt } from '../file-tree.ts';
import { parseGoDuration } from '#base';
import { TLS_VERSION_NAMES } from '../schema/web-schema.ts';
import { parseHostPort } from '../text-kinds.ts';
import type { RuleContext } from './draft.ts';

/** Compares the shortest and the longest delay after defaults were filled in. */
export function checkBackoffs({ draft, root, problems }: RuleContext): void {
  draft.link?.dialers?.forEach((dialer, i) => {
    for (const policy of ['healthyDialBackoff', 'unhealthyDialBackoff'] as const) {
      const { minRetryInterval: min, maxRetryInterval: max } = dialer?.[policy] ?? {};
      if (min === undefined || max === undefined || parseGoDuration(min)! <= parseGoDuration(max)!) continue;
      const path = `link.dialers[${i}].${policy}`;
      const isMinGiven = placeAt(root, `${path}.minRetryInterval`).node !== undefined;
      const key = isMinGiven ? 'minRetryInterval' : 'maxRetryInterval';
      const words = `the shortest wait (${min}) is longer than the longest (${max})`;
      problems.error(`${path}.${key}`, 'order', words);
    }
  });
}

/** A link of one connection has no numbers of connections. */
export function checkConnections({ draft, root, problems }: RuleContext): void {
  draft.link?.dialers?.forEach((dialer, i) => {
    if (dialer?.split !== false) return;
    for (const key of ['maxDefaultConnections', 'maxAckConnections']) {
      const path = `link.dialers[${i}].${key}`;
      if (placeAt(root, path).node === undefined) continue;
      problems.warning(path, 'no-effect', 'has no effect with split: false, which is one connection');
    }
  });
}

export function checkIdentity({ draft, root, problems }: RuleContext): void {
  const { identity } = draft;
  if (identity === undefined) return;
  if (identity.server_key !== undefined && placeAt(root, 'identity.server_cert').node === undefined)
    problems.report('warning', 'identity.server_key', 'no-effect', 'has no effect without server_cert', true);
  if (placeAt(root, 'identity.ca').node === undefined)
    problems.warning('identity.ca', 'ca', 'is missing: the authorities that come with Node are trusted');
}

export function checkWeb({ draft, root, problems }: RuleContext): void {
  draft.web?.forEach((server, i) => {
    server?.bindPoints?.forEach((point, j) => {
      for (const key of ['interface', 'address', 'newAddress'] as const) {
        if (point?.[key] === undefined || parseHostPort(point[key])?.port !== 0) continue;
        problems.error(`web[${i}].bindPoints[${j}].${key}`, 'minimum', 'must have a port from 1 to 65535');
      }
    });
    const { minTLSVersion: min, maxTLSVersion: max } = server?.options ?? {};
    if (min === undefined || max === undefined) return;
    if (TLS_VERSION_NAMES.indexOf(min) <= TLS_VERSION_NAMES.indexOf(max)) return;
    const path = `web[${i}].options`;
    const key = placeAt(root, `${path}.minTLSVersion`).node === undefined ? 'maxTLSVersion' : 'minTLSVersion';
    problems.error(`${path}.${key}`, 'order', `the lowest version (${min}) is above the highest (${max})`);
  });
}

export function checkProxy({ draft, root, problems }: RuleContext): void {
  const { proxy } = draft;
  if (proxy?.type === 'http' && placeAt(root, 'proxy.address').node === undefined)
    problems.error('proxy.address', 'required', 'is missing: type http needs it');
}
