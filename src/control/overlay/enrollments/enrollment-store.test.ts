import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, it } from 'node:test';
import { ephemeralSecrets } from '../../secrets/key-file.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import {
  claimEnrollment,
  createEnrollment,
  findByCode,
  findByToken,
  MAX_REFUSED_CSRS,
  mintJti,
  pruneEnrollments,
  refuseCsr,
  type EnrollmentKind,
} from './enrollment-store.ts';
import type { Store } from '../../store/mod.ts';

const NOW = 1_000_000;
const TTL = 900_000;

describeEachStore('enrollments', (open) => {
  let store: Store;
  const secrets = ephemeralSecrets();
  before(async () => {
    store = await open();
  });
  after(() => store.close());

  const make = async (kind: EnrollmentKind = 'gateway') => {
    const { enrollment, code } = await createEnrollment(store.db, secrets, {
      kind,
      ownerId: null,
      identityId: null,
      ttlMs: TTL,
      nowMs: NOW,
    });
    return { enrollment, code, jti: mintJti(secrets, enrollment.id) };
  };
  const claim = (token: string, nowMs = NOW, kinds: EnrollmentKind[] = ['gateway']) =>
    store.transaction((trx) => claimEnrollment(trx, secrets, token, nowMs, kinds));

  it('are claimed once in a race of a hundred, whichever token asks', async () => {
    const { enrollment, code } = await make();
    const tokens = Array.from({ length: 100 }, (_, i) =>
      i % 10 === 0 ? code : mintJti(secrets, enrollment.id),
    );
    const claims = await Promise.all(tokens.map((token) => claim(token)));
    const winners = claims.filter((each) => each.ok);
    assert.equal(winners.length, 1);
    assert.deepEqual(winners[0], { ok: true, enrollment });
    for (const each of claims) if (!each.ok) assert.equal(each.reason, 'used');
  });

  it('stay unclaimed when the transaction around the claim fails', async () => {
    const { jti } = await make();
    const failing = store.transaction(async (trx) => {
      const { ok } = await claimEnrollment(trx, secrets, jti, NOW, ['gateway']);
      assert.ok(ok);
      throw new Error('the certificate could not be stored');
    });
    await assert.rejects(failing, /certificate/);
    assert.ok((await claim(jti)).ok);
  });

  it('end at their time, also when a JWT was minted before', async () => {
    const { jti, code } = await make();
    assert.ok(await findByCode(store.db, secrets, code, NOW + TTL - 1));
    assert.equal(await findByCode(store.db, secrets, code, NOW + TTL), undefined);
    assert.deepEqual(await claim(jti, NOW + TTL), { ok: false, reason: 'expired' });
    assert.ok((await claim(jti, NOW + TTL - 1)).ok);
    assert.equal(await findByCode(store.db, secrets, code, NOW), undefined);
  });

  it('are killed by the fifth refused CSR', async () => {
    const { jti, code } = await make();
    for (let i = 1; i < MAX_REFUSED_CSRS; i += 1) await refuseCsr(store.db, secrets, jti);
    assert.ok((await findByToken(store.db, secrets, jti, NOW, ['gateway'])).ok);
    await refuseCsr(store.db, secrets, code);
    assert.deepEqual(await findByToken(store.db, secrets, jti, NOW, ['gateway']), {
      ok: false,
      reason: 'killed',
    });
    assert.deepEqual(await claim(jti), { ok: false, reason: 'killed' });
    assert.equal(await findByCode(store.db, secrets, code, NOW), undefined);
  });

  it('are not opened by tokens that we did not make', async () => {
    const { enrollment, jti } = await make();
    const changed = Buffer.from(jti, 'base64url');
    changed[20]! ^= 1;
    for (const token of [
      '',
      'x',
      enrollment.id,
      mintJti(ephemeralSecrets(), enrollment.id),
      changed.toString('base64url'),
      `${jti}A`,
      jti.slice(1),
      mintJti(secrets, randomUUID()),
      'A'.repeat(32),
      '\u0000'.repeat(54),
    ]) {
      assert.deepEqual(await claim(token), { ok: false, reason: 'unknown' }, token);
      await refuseCsr(store.db, secrets, token);
    }
    assert.ok((await claim(jti)).ok);
  });

  it('are claimed only by the method of their kind', async () => {
    const { jti } = await make('router');
    assert.deepEqual(await claim(jti, NOW, ['environment', 'gateway']), {
      ok: false,
      reason: 'wrong-method',
    });
    assert.ok((await claim(jti, NOW, ['router'])).ok);
  });

  it('are forgotten a day after they ended', async () => {
    const { enrollment } = await make();
    await pruneEnrollments(store.db, NOW + TTL + 86_400_000);
    const present = () =>
      store.db.selectFrom('enrollment').select('id').where('id', '=', enrollment.id).execute();
    assert.equal((await present()).length, 1);
    await pruneEnrollments(store.db, NOW + TTL + 86_400_001);
    assert.equal((await present()).length, 0);
  });
});
