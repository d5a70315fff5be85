/** Operations on the signing keys of bearer tokens. The keys and their audit events belong to the installation. */
import { FrontdoorError } from '#base';
import type { SigningKeyAnswer } from '#contract/schemas';
import { rotateSigningKey, listSigningKeys, type SigningKey } from '../../credentials/oauth/mod.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import { created, isoTime, ok, type CreationParts, type Handlers } from './call.ts';
import { creation } from './creation.ts';

export const signingKeyHandlers: Handlers<CreationParts, 'listSigningKeys' | 'rotateSigningKey'> = {
  async listSigningKeys({ store, secrets, clock }) {
    const keys = await listSigningKeys(store.db, secrets, 'bearer', clock.nowMs());
    return ok(keys.map(answerOf));
  },

  async rotateSigningKey(parts, call) {
    const make = async (trx: Queries, touch: Touch) => {
      const made = await rotateSigningKey(trx, touch, parts.secrets, 'bearer', parts.clock.nowMs());
      if (made === undefined) {
        throw new FrontdoorError('conflict', 'conflict', 'The newest key does not sign yet');
      }
      const target = { kind: 'signing-key', id: made.id };
      return { result: made, target, after: answerOf(made), organizationId: '' };
    };
    return creation(parts, call, make, (key) => created(parts, '/signing-keys', answerOf(key)));
  },
};

function answerOf(key: SigningKey): SigningKeyAnswer {
  return {
    id: key.id,
    algorithm: 'ES256',
    createdAt: isoTime(key.createdAtMs),
    activatesAt: isoTime(key.activatesAtMs),
    expiresAt: key.expiresAtMs === null ? null : isoTime(key.expiresAtMs),
  };
}
