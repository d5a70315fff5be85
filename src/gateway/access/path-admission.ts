/** Let in for the place that a request goes to, whoever sent it: asked about again by that place. */
import type { Admission } from './access.ts';
import type { OwnCookies } from './own-cookies.ts';

export class PathAdmission implements Admission {
  readonly type = 'admit';
  readonly decision: string;
  readonly identity = undefined;
  readonly changes: Admission['changes'];
  readonly isGuarded = true;
  readonly target: string;

  constructor(decision: string, target: string, cookies: OwnCookies) {
    this.decision = decision;
    this.target = target;
    this.changes = changesOf(cookies);
  }
}

/** Our cookies end here. */
export function changesOf({ omitted, lines }: OwnCookies): Admission['changes'] {
  return omitted.length === 0 ? undefined : { omitted, target: undefined, lines };
}
