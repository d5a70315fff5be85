/**
 * Admission because of the request's path or method, for every caller. While the request continues, the same
 * condition is checked again.
 */
import { pathKind, type CompiledRules } from '#domain/access';
import type { AccessAdmission } from './access.ts';
import type { OwnCookies } from './own-cookies.ts';

/** Name of the decision in logs and records. */
export const PREFLIGHT = 'preflight';

export class PathAdmission implements AccessAdmission {
  readonly type = 'admit';
  readonly decision: string;
  readonly identity = undefined;
  readonly changes: AccessAdmission['changes'];
  readonly isGuarded = true;
  readonly target: string;

  constructor(decision: string, target: string, cookies: OwnCookies) {
    this.decision = decision;
    this.target = target;
    this.changes = changesOf(cookies);
  }

  /** Whether the current rules require no identity here. */
  isOpenBy(rules: CompiledRules): boolean {
    if (pathKind(rules, this.target) === 'public') return true;
    return this.decision === PREFLIGHT && rules.rules.allowPreflights;
  }
}

/** Removes the gateway's own cookies. */
export function changesOf({ omitted, lines }: OwnCookies): AccessAdmission['changes'] {
  return omitted.length === 0 ? undefined : { omitted, target: undefined, lines };
}
