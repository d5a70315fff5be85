/** The steps that give shares the domains that a file has for them. A share without `domains` in the file keeps what it has. */
import type { FrontdoorFile } from '#contract/schemas';
import type { ManagementRequest } from '../management-client.ts';
import { deletion, type ApplyStep } from './apply-step.ts';
import type { FrontdoorState } from './frontdoor-state.ts';

const DOMAIN = 'domain';

export interface DomainSteps {
  readonly missing: readonly ApplyStep[];
  /** Deletions of what the file does not have. */
  readonly unlisted: readonly ApplyStep[];
}

export function domainSteps(
  base: string,
  { shares = [] }: FrontdoorFile,
  state: FrontdoorState,
): DomainSteps {
  const [missing, unlisted]: [ApplyStep[], ApplyStep[]] = [[], []];
  for (const { name: share, domains } of shares) {
    if (domains === undefined) continue;
    const wanted = domains.map((each) => each.toLowerCase());
    const standing = state.shareByToken.get(share)?.domains ?? [];
    const path = `${base}/shares/${encodeURIComponent(share)}/domains`;
    for (const hostname of wanted.filter((each) => !standing.includes(each))) {
      const add = (): ManagementRequest => ({ method: 'POST', path, body: { hostname } });
      missing.push({ action: 'create', what: DOMAIN, name: hostname, fields: [], requests: [add] });
    }
    for (const hostname of standing.filter((each) => !wanted.includes(each)))
      unlisted.push(deletion(DOMAIN, hostname, `${path}/${encodeURIComponent(hostname)}`));
  }
  return { missing, unlisted };
}
