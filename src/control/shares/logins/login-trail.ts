/**
 * Log-ins at shares in the audit trail of the share's organization: the first of a person from a network within
 * an hour. Later ones are counted and included in the next event. Events contain no credential and no claim.
 */
import type { Clock } from '#base';
import type { GatewaySession } from '#domain/gateway-shapes';
import { appendMachineAudit, LogInLedger } from '../../audit/mod.ts';
import type { Secrets } from '../../secrets/mod.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import type { GuardedHost } from './guarded-host.ts';

export class LoginTrail {
  readonly #parts: { readonly secrets: Pick<Secrets, 'tag'>; readonly clock: Clock };
  readonly #ledger: LogInLedger;

  constructor(parts: { readonly secrets: Pick<Secrets, 'tag'>; readonly clock: Clock }) {
    this.#parts = parts;
    this.#ledger = new LogInLedger(parts.clock);
  }

  /** Called inside the transaction that creates the session, as its last statement. Returns the argument for `done`. */
  async append(
    trx: Queries,
    touch: Touch,
    guarded: GuardedHost,
    { id, shareId, host, providerId, identity }: GatewaySession,
    address: string,
  ): Promise<() => void> {
    const who = `${providerId}#${identity.subject}`;
    const occurrences = this.#ledger.due(`${shareId} ${who}`, address);
    if (occurrences > 0) {
      await appendMachineAudit(trx, touch, this.#parts, {
        ownerId: guarded.frontdoorId,
        actor: { kind: 'visitor', id: who },
        action: 'logInAtShare',
        target: { kind: 'share', id: shareId },
        after: { session: id, host, email: identity.email },
        address,
        occurrences,
      });
    }
    return () => this.#ledger.done(`${shareId} ${who}`, address, occurrences);
  }
}
