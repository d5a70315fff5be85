/** Access control for a gateway that serves only hosts without rules. Hosts with rules admit nobody. */
import { OPEN_ADMISSION, type AccessControl } from '../access/access.ts';
import { FAILURES } from '../answers/failure-table.ts';
import type { AccessFeed } from '../shares/access-feed.ts';

export class OpenAccess implements AccessControl, AccessFeed {
  generation = 0;

  decide: AccessControl['decide'] = (host) =>
    host.isGuarded
      ? { type: 'refuse', decision: 'guarded', failure: FAILURES.decisionTimeout }
      : OPEN_ADMISSION;

  decidePort: AccessControl['decidePort'] = (host) => (host.isGuarded ? FAILURES.decisionTimeout : undefined);

  isOwnHost: AccessControl['isOwnHost'] = () => false;

  decideOwn: AccessControl['decideOwn'] = () => undefined;

  endOf: AccessControl['endOf'] = (host) =>
    host === undefined || host.isGuarded ? FAILURES.revoked : undefined;

  replaceAll(): void {
    this.generation += 1;
  }

  change(): void {
    this.generation += 1;
  }

  onContact(): void {}

  kept(): ReturnType<AccessFeed['kept']> {
    return { providers: [], zones: [] };
  }
}
