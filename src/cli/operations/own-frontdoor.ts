/** The frontdoor that the caller works with, or an error that says how to name one. */
import { FrontdoorError } from '#base';
import type { Access } from '../access/access.ts';

export function frontdoorOf({ frontdoorId, missing }: Access): string {
  if (frontdoorId !== undefined) return frontdoorId;
  if (missing !== undefined) throw new FrontdoorError('unauthenticated', 'no-credentials', missing);
  const remedy = '--frontdoor ID, FRONTDOOR_ID, or "frontdoor login"; "frontdoor frontdoors list" shows them';
  throw new FrontdoorError('invalid', 'no-frontdoor', `say which frontdoor: ${remedy}`);
}
