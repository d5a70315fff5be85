/** The replacement of the key that encrypts secrets (ADR 0062). Its call is repeated until the key is in use everywhere. */
import { change, ok, unstored, type ApiParts, type ChangeParts, type Handlers } from './call.ts';

type SealingParts = ChangeParts & Pick<ApiParts, 'sealing'>;

export const sealingHandlers: Handlers<SealingParts, 'getSealingKey' | 'rotateSealingKey'> = {
  async getSealingKey({ sealing }) {
    return unstored(ok(await sealing.state()));
  },

  async rotateSealingKey(parts, call) {
    const { sealing } = parts;
    const keyId = await sealing.prepare();
    await change(parts, call, async (trx) => {
      await sealing.begin(trx, keyId);
      const target = { kind: 'sealing-key', id: keyId };
      return { result: undefined, target, after: await sealing.state(trx), organizationId: '' };
    });
    // It may take minutes; the state shows how much is left.
    void sealing.look();
    return unstored(ok(await sealing.state()));
  },
};
