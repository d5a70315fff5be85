// No rule that is set is without effect: it changes a decision about some caller, or it is reported as one that does not.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { provesPeople } from '../provider-types/provider-type-table.ts';
import { explainAccess, type ExplainedRequest } from './access-explanation.ts';
import { OPEN_RULES, type AccessRules } from './access-rules.ts';
import { compileRules } from './compiled-rules.ts';
import { ineffectiveRules } from './ineffective-rules.ts';
import { CALLERS, NAMES, RULES, SETUPS, type AccessRuleName, type Setup } from './rule-case-fixture.ts';

const rulesOf = (part: Partial<AccessRules>): AccessRules => ({ ...OPEN_RULES, ...part });

function decisionsOf(rules: AccessRules, { providers }: Setup): readonly ReturnType<typeof explainAccess>[] {
  const compiled = compileRules(rules);
  return CALLERS.map((caller) => explainAccess(compiled, providers, caller));
}

/** Verdicts as far as they differ in effect. Limits of rates and sessions are not part of an explanation. */
function effectOf(rules: AccessRules, setup: Setup): readonly string[] {
  const isLoggedIn = setup.providers.some(({ type, enabled }) => provesPeople(type) && enabled);
  const { session, rateLimit } = rules;
  return decisionsOf(rules, setup).map(({ decision, status }) => {
    if (decision !== 'allow') return `${decision} ${status}`;
    return JSON.stringify([rateLimit, isLoggedIn ? session : null]);
  });
}

const guardsOf = ({ providers }: Setup) => ({
  isPrivate: false,
  authProviderIds: providers.map(({ id }) => id),
  hasPeople: providers.some(({ type }) => provesPeople(type)),
});

function reasonOf(rules: AccessRules, setup: Setup, rule: AccessRuleName): string | undefined {
  return ineffectiveRules(rules, guardsOf(setup)).find((each) => each.rule === rule)?.reason;
}

describe('a rule that is set', () => {
  for (const setup of SETUPS) {
    test(`changes a decision with ${setup.name}, or is reported as one without effect`, () => {
      for (const rule of NAMES) {
        if (setup.rules[rule] !== undefined) continue;
        const without = rulesOf(setup.rules);
        const rules = { ...without, [rule]: RULES[rule] };
        const before = effectOf(without, setup);
        const differs = effectOf(rules, setup).some((effect, at) => effect !== before[at]);
        const reason = reasonOf(rules, setup, rule);
        if (reason === 'person-unprovable') assert.ok(differs, rule);
        // Rules on people wait for the provider to be enabled again.
        else if (setup.providers.every(({ enabled }) => enabled))
          assert.equal(differs, reason === undefined, `${rule}: ${reason ?? 'has an effect'}`);
      }
    });

    test(`admits with ${setup.name} nobody whom it does not name, alone and beside any other`, () => {
      for (const [at, rule] of NAMES.entries())
        for (const other of NAMES.slice(at)) {
          const rules = rulesOf({ ...setup.rules, [rule]: RULES[rule], [other]: RULES[other] });
          for (const [of, { decision }] of decisionsOf(rules, setup).entries())
            if (decision === 'allow') assertNamed(rules, setup, CALLERS[of]!, `${rule} and ${other}`);
        }
    });
  }

  test('of a private share has no effect', () => {
    for (const rule of NAMES)
      assert.deepEqual(
        ineffectiveRules(rulesOf({ [rule]: RULES[rule] }), { ...guardsOf(SETUPS[1]!), isPrivate: true }),
        [{ rule, reason: 'private' }],
      );
  });
});

/** Every rule that is set names each caller who is admitted: the specification, in other words than the product's. */
function assertNamed(rules: AccessRules, { providers }: Setup, caller: ExplainedRequest, said: string): void {
  const message = `${said}: ${JSON.stringify(caller)}`;
  assert.equal(rules.expiresAtMs, null, message);
  if (rules.ip.allow.length > 0) assert.equal(caller.address, '192.0.2.1', message);
  if (rules.clientCertificate !== null) assert.equal(caller.certificateName, 'laptop', message);
  if (rules.publicPaths.length > 0 && caller.target === '/public') return;
  if (rules.allowPreflights && caller.isPreflight) return;
  const isGuarded = providers.length + rules.basicAuth.length + rules.emails.length + rules.claims.length > 0;
  if (!isGuarded) return;
  const hasPeople = providers.some(({ type }) => type !== 'API_KEY');
  const hasRules = rules.emails.length + rules.claims.length > 0;
  if (hasRules) assert.ok(hasPeople, message);
  if (caller.keyName !== undefined) assert.equal(caller.keyName, 'build', message);
  else if (caller.basicUser !== undefined)
    assert.ok(
      rules.basicAuth.some(({ name }) => name === caller.basicUser),
      message,
    );
  else {
    assert.ok(caller.person !== undefined && hasPeople, message);
    if (rules.emails.length > 0) assert.equal(caller.person.email, 'ann@example.com', message);
    if (rules.claims.length > 0) assert.deepEqual(caller.person.groups, ['ops'], message);
  }
}
