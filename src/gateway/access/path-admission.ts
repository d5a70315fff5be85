/** Let in for the place that a request goes to, whoever sent it: asked about again by that place. */
import { pathKind, type CompiledRules } from '#domain';
import type { AccessAdmission } from './access.ts';
import type { OwnCookies } from './own-cookies.ts';

/** The decision's name in logs and records. */
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

  /** Whether its place needs no identity by the rules of now. */
  isOpenBy(rules: CompiledRules): boolean {
    if (pathKind(rules, this.target) === 'public') return true;
    return this.decision === PREFLIGHT && rules.rules.allowPreflights;
  }
}

/** Our cookies end here. */
export function changesOf({ omitted, lines }: OwnCookies): AccessAdmission['changes'] {
  return omitted.length === 0 ? undefined : { omitted, target: undefined, lines };
}
