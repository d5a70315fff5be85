/** Removes expired attempts and sessions, and expires custom frontends that gateways no longer report. */
import { sql } from 'kysely';
import { StoreSweep, type SweepParts } from '../../store/mod.ts';
import { expireCertifiedZones } from './gateway-usage.ts';

const SWEEP_MS = 15_000;
const STATEMENTS_A_SWEEP = 50;

export class LoginSweep extends StoreSweep {
  constructor(parts: SweepParts) {
    super(parts, 'sign-ins that are over', SWEEP_MS);
  }

  protected async pass(nowMs: number): Promise<void> {
    await this.#delete('login_attempt', 'state_hmac', nowMs);
    await this.#delete('login_session', 'id', nowMs);
    await expireCertifiedZones(this.parts.store.db, nowMs);
  }

  #delete(table: string, key: string, nowMs: number): Promise<void> {
    return this.deleteAll(async (most) => {
      const { numAffectedRows } = await sql`delete from ${sql.table(table)} where ${sql.ref(key)} in
        (select ${sql.ref(key)} from ${sql.table(table)} where expires_at <= ${nowMs} limit ${most})`.execute(
        this.parts.store.db,
      );
      return Number(numAffectedRows ?? 0);
    }, STATEMENTS_A_SWEEP);
  }
}
