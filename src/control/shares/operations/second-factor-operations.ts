/** Operations on the caller's own second factor at the console. Only people who log in with a password have one. */
import { FrontdoorError } from '#base';
import type { SecondFactorAnswer } from '#contract/schemas';
import { invalidValue } from '#domain';
import type { Principal } from '../../credentials/oauth/mod.ts';
import { base32 } from '../../secrets/mod.ts';
import {
  deletePersonTotp,
  demandsSecondFactor,
  findPerson,
  findPersonTotp,
  hasPassword,
  lockPersonTotp,
  renewSessionCredential,
} from '../../credentials/people/mod.ts';
import {
  beginPersonFactor,
  confirmPersonFactor,
  provisioningUrlOf,
  qrPictureOf,
  renewPersonRecovery,
  type FactorConfirmation,
} from '../../credentials/totp/mod.ts';
import { notFound, tooMany } from './api-errors.ts';
import {
  change,
  gone,
  isoTime,
  ok,
  unstored,
  type ApiParts,
  type ChangeParts,
  type Handlers,
} from './call.ts';

const NOT_AVAILABLE: SecondFactorAnswer = {
  available: false,
  enrolled: false,
  demanded: false,
  recoveryCodesLeft: 0,
  enrolledAt: null,
};

export const secondFactorHandlers: Handlers<
  ChangeParts & Pick<ApiParts, 'store'>,
  | 'getSecondFactor'
  | 'beginSecondFactor'
  | 'confirmSecondFactor'
  | 'renewRecoveryCodes'
  | 'removeSecondFactor'
> = {
  async getSecondFactor({ store, secrets }, { principal }) {
    const { db } = store;
    const { id, organizationId } = principal;
    if (principal.kind !== 'person' || !(await hasPassword(db, id))) return ok(NOT_AVAILABLE);
    const enrolled = (await findPersonTotp(db, secrets, id))?.enrolled;
    return ok({
      available: true,
      enrolled: enrolled !== undefined,
      demanded: await demandsSecondFactor(db, organizationId),
      recoveryCodesLeft: enrolled?.recoveryCodes.length ?? 0,
      enrolledAt: enrolled === undefined ? null : isoTime(enrolled.enrolledAtMs),
    });
  },

  async beginSecondFactor(parts, call) {
    const id = personOf(call.principal);
    const { secret, name } = await change(parts, call, async (trx) => {
      const begun = await beginPersonFactor(trx, factorParts(parts), id);
      const person = await findPerson(trx, id);
      if (begun === undefined || person === undefined) throw notAvailable();
      return { result: { secret: begun, name: person.email ?? person.name }, target: targetOf(id) };
    });
    const url = provisioningUrlOf(secret, name);
    const png = Buffer.from(qrPictureOf(url)).toString('base64');
    return unstored(ok({ secret: base32(secret), url, picture: `data:image/png;base64,${png}` }));
  },

  async confirmSecondFactor(parts, call) {
    const id = personOf(call.principal);
    const confirmed = await change<FactorConfirmation>(parts, call, async (trx) => {
      const result = await confirmPersonFactor(trx, factorParts(parts), id, call.body.code);
      // The count of wrong codes is kept.
      if (!result.ok) return { result };
      const { sessionId } = call.principal;
      if (sessionId !== undefined) await renewSessionCredential(trx, { id: sessionId, personId: id }, true);
      return { result, target: targetOf(id), after: { secondFactor: true } };
    });
    if (confirmed.ok) return unstored(ok({ recoveryCodes: [...confirmed.recoveryCodes] }));
    if (confirmed.reason === 'later') throw tooMany(Math.ceil(confirmed.afterMs / 1_000));
    if (confirmed.reason === 'none')
      throw conflict('Begin first: a secret waits for its first code for an hour');
    throw invalidValue('code', 'code that the app shows now');
  },

  async renewRecoveryCodes(parts, call) {
    const id = personOf(call.principal);
    const recoveryCodes = await change(parts, call, async (trx) => {
      const result = await renewPersonRecovery(trx, factorParts(parts), id);
      if (result === undefined) throw conflict('You have no second factor');
      return { result, target: targetOf(id) };
    });
    return unstored(ok({ recoveryCodes: [...recoveryCodes] }));
  },

  async removeSecondFactor(parts, call) {
    const { organizationId } = call.principal;
    const id = personOf(call.principal);
    await change(parts, call, async (trx) => {
      const totp = await lockPersonTotp(trx, parts.secrets, id);
      if (totp?.enrolled === undefined) throw notFound('Second factor', id);
      if (await demandsSecondFactor(trx, organizationId))
        throw conflict('Your organization demands a second factor; begin again to replace it');
      await deletePersonTotp(trx, id, call.principal.sessionId);
      return { result: undefined, target: targetOf(id), before: { secondFactor: true } };
    });
    return gone;
  },
};

function factorParts({ secrets, clock }: ChangeParts) {
  return { secrets, nowMs: clock.nowMs() };
}

function personOf({ kind, id }: Principal): string {
  if (kind !== 'person') throw notAvailable();
  return id;
}

function targetOf(id: string) {
  return { kind: 'person', id };
}

function notAvailable(): FrontdoorError {
  return conflict('Only people who sign in to the console with a password have a second factor');
}

function conflict(message: string): FrontdoorError {
  return new FrontdoorError('conflict', 'conflict', message);
}
