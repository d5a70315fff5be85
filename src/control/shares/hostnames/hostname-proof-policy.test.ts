import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TxtAnswer } from '#domain';
import { CLAIM_MS, judgeProof, MISSING_MS, nextProof, type ProofState } from './hostname-proof-policy.ts';

const VALUE = 'frontdoor-organization=one';
const none: TxtAnswer = { values: [], problem: undefined };
const failed: TxtAnswer = { values: [], problem: 'queryTxt ESERVFAIL' };
const proven: TxtAnswer = { values: ['v=spf1 -all', VALUE], problem: undefined };
const foreign: TxtAnswer = { values: ['frontdoor-organization=two'], problem: undefined };
const question = {
  hostname: 'apps.shop.example',
  domain: 'shop.example',
  isDomainOfAnother: false,
  value: VALUE,
};

describe('what DNS answers', () => {
  const outcome = (...answers: [ofName: TxtAnswer, ofDomain: TxtAnswer]) =>
    judgeProof(question, ...answers).outcome;

  it('proves a name by its record or by that of its domain, in any of the forms that providers keep', () => {
    assert.deepEqual(judgeProof(question, proven, none), {
      outcome: 'proven',
      provenBy: 'apps.shop.example',
    });
    assert.deepEqual(judgeProof(question, none, proven), { outcome: 'proven', provenBy: 'shop.example' });
    assert.deepEqual(judgeProof(question, proven, failed).outcome, 'proven');
    for (const text of [`"${VALUE}"`, ` ${VALUE} `, VALUE.toUpperCase()])
      assert.equal(outcome({ values: [text], problem: undefined }, none), 'proven', text);
  });

  it('denies it without the record, and with that of another organization', () => {
    for (const answer of [none, foreign]) assert.equal(outcome(answer, none), 'absent');
    for (const text of [`x${VALUE}`, `${VALUE}x`, `${VALUE} ${VALUE}`])
      assert.equal(outcome({ values: [text], problem: undefined }, none), 'absent', text);
  });

  it('says nothing where name servers fail', () => {
    assert.equal(outcome(failed, none), 'unknown');
    assert.equal(outcome(none, failed), 'unknown');
  });

  it('proves a name below a domain that another organization has proven by the record of the domain alone', () => {
    const other = { ...question, isDomainOfAnother: true };
    const verdict = judgeProof(other, proven, foreign);
    assert.equal(verdict.outcome, 'absent');
    assert.match(
      'problem' in verdict ? verdict.problem : '',
      /another organization has proven shop\.example/,
    );
    assert.equal(judgeProof(other, none, proven).outcome, 'proven');
    assert.equal(judgeProof(other, proven, failed).outcome, 'unknown');
  });
});

describe('the proof of a hostname', () => {
  const NOW = 1_000_000_000;
  const claim: ProofState = { proof: 'PENDING', endsAtMs: NOW + CLAIM_MS, misses: 0 };
  const kept: ProofState = { proof: 'PROVEN', endsAtMs: null, misses: 0 };

  it('is looked for within a minute first, then up to hourly, and its claim ends after 14 days', () => {
    let state = claim;
    const dues: number[] = [];
    let nowMs = NOW;
    for (;;) {
      const step = nextProof(state, 'absent', nowMs, 0.5);
      if (step.type === 'end') break;
      dues.push(step.dueInMs);
      ({ state } = step);
      nowMs += step.dueInMs;
    }
    assert.ok(dues[0]! <= 60_000 && Math.max(...dues) === 3_600_000);
    assert.ok(nowMs - NOW >= CLAIM_MS && nowMs - NOW < CLAIM_MS + 3_600_000);
    assert.ok(dues.length < 400, String(dues.length));
  });

  it('outlives name servers that fail, for any time', () => {
    let state = kept;
    for (let nowMs = NOW; nowMs < NOW + 90 * 86_400_000;) {
      const step = nextProof(state, 'unknown', nowMs, 0.5);
      assert.equal(step.type, 'keep');
      if (step.type !== 'keep') return;
      ({ state } = step);
      nowMs += step.dueInMs;
    }
    assert.equal(state.proof, 'PROVEN');
  });

  it('is lost when its record is denied for three days, and not by failures after a denial', () => {
    const missed = nextProof(kept, 'absent', NOW, 0.5);
    assert.equal(missed.type, 'miss');
    if (missed.type !== 'miss') return;
    assert.deepEqual(missed.state, { proof: 'MISSING', endsAtMs: NOW + MISSING_MS, misses: 1 });
    const end = NOW + MISSING_MS;
    assert.equal(nextProof(missed.state, 'absent', end - 1, 0.5).type, 'keep');
    assert.equal(nextProof(missed.state, 'unknown', end + 1, 0.5).type, 'keep');
    const back = nextProof(missed.state, 'proven', end + 1, 0.5);
    assert.deepEqual(back.type === 'prove' && back.state, { proof: 'PROVEN', endsAtMs: null, misses: 0 });
    const lost = nextProof(missed.state, 'absent', end, 0.5);
    assert.deepEqual(lost.type === 'lose' && lost.state, {
      proof: 'PENDING',
      endsAtMs: end + CLAIM_MS,
      misses: 0,
    });
  });
});
