// One sentence says who may come in, and it agrees with the decisions.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { explainAccess } from './access-explanation.ts';
import { OPEN_RULES, type AccessRules } from './access-rules.ts';
import { accessSummary, type SummedProvider } from './access-summary.ts';
import { compileRules } from './compiled-rules.ts';
import { CALLERS, NAMES, NOW_MS, RULES, SETUPS } from './rule-case-fixture.ts';

const staff: SummedProvider = { name: 'staff', type: 'OIDC', enabled: true, keys: 0 };
const builds: SummedProvider = { name: 'builds', type: 'API_KEY', enabled: true, keys: 3 };
const users = (...names: string[]) => names.map((name) => ({ name, passwordHash: 'x' }));
const MAY = Date.UTC(2027, 4, 12, 9);

function summaryOf(
  rules: Partial<AccessRules> | null,
  providers: readonly (SummedProvider | undefined)[] = [],
  nowMs = 0,
) {
  const names = [{ host: 'app.share.example', providers }];
  const given = rules === null ? null : { ...OPEN_RULES, ...rules };
  return accessSummary({ grants: undefined, names, rules: given }, nowMs);
}

suite('the sentence about who may come in', () => {
  const cases: readonly (readonly [
    rules: Partial<AccessRules> | null,
    providers: SummedProvider[],
    said: string,
  ])[] = [
    [null, [], 'Everyone'],
    [{ ip: { allow: ['192.0.2.0/24'], deny: [] } }, [], 'Everyone from 192.0.2.0/24'],
    [{ ip: { allow: [], deny: ['192.0.2.1'] } }, [], 'Everyone except from 192.0.2.1'],
    [{ ip: { allow: ['10.0.0.1', '10.0.0.2', '10.0.0.3'], deny: [] } }, [], 'Everyone from 3 networks'],
    [{ basicAuth: users('ann', 'bob', 'carl') }, [], '3 users with a password'],
    [{ basicAuth: users('ann') }, [staff], 'People who sign in with staff or 1 user with a password'],
    [{ clientCertificate: { authorities: ['x'], names: [] } }, [], 'Everyone with a client certificate'],
    [
      { clientCertificate: { authorities: ['x'], names: ['laptop'] }, expiresAtMs: MAY },
      [builds],
      'Holders of 3 keys of builds with a client certificate of laptop until 12 May 2027',
    ],
    [
      { emails: ['*@example.com'] },
      [staff, builds],
      '*@example.com who sign in with staff or holders of 3 keys of builds',
    ],
    [
      {
        emails: ['a@b.example', 'b@b.example', 'c@b.example'],
        claims: [{ claim: 'groups', anyOf: ['ops', 'dev'] }],
      },
      [staff],
      '3 email patterns with groups ops, dev who sign in with staff',
    ],
    [{ publicPaths: ['/health'] }, [staff], 'People who sign in with staff; everyone at /health'],
    [{ publicPaths: ['/health'] }, [], 'Everyone'],
    [{ emails: ['*@example.com'] }, [], 'Nobody: rules about people, and no sign-in proves who a person is'],
    [
      { emails: ['*@example.com'], publicPaths: ['/health'] },
      [],
      'Nobody: rules about people, and no sign-in proves who a person is; everyone at /health',
    ],
    [null, [{ ...staff, enabled: false }], 'Nobody: every auth provider is disabled'],
  ];
  for (const [rules, providers, said] of cases)
    test(`is "${said}"`, () => assert.equal(summaryOf(rules, providers).summary, said));

  test('is "Closed since 12 May 2027" once the time of the policy is over', () => {
    assert.equal(summaryOf({ expiresAtMs: MAY }, [], MAY - 1).summary, 'Everyone until 12 May 2027');
    assert.deepEqual(summaryOf({ expiresAtMs: MAY }, [staff], MAY), {
      admits: 'nobody',
      summary: 'Closed since 12 May 2027',
    });
  });

  test('names the addresses where these are guarded differently, and the machines of a private share', () => {
    const names = [
      { host: 'app.share.example', providers: [] },
      { host: 'app.apps.example', providers: [staff] },
    ];
    assert.deepEqual(accessSummary({ grants: undefined, names, rules: null }, 0), {
      admits: 'everyone',
      summary: 'Everyone (app.share.example); People who sign in with staff (app.apps.example)',
    });
    const machines = (grants: number) => accessSummary({ grants, names: [], rules: null }, 0);
    assert.deepEqual(machines(2), { admits: 'some', summary: '2 granted machines' });
    assert.deepEqual(machines(0), { admits: 'nobody', summary: 'Nobody: no machine is granted' });
  });

  for (const { name, providers, rules: given } of SETUPS)
    test(`agrees with the decisions about callers, with ${name} and each rule`, () => {
      const summed = providers.map((one) => ({ ...one, keys: one.keys.length }));
      for (const rule of [undefined, ...NAMES]) {
        const rules = { ...OPEN_RULES, ...given, ...(rule === undefined ? {} : { [rule]: RULES[rule] }) };
        const compiled = compileRules(rules);
        const allowed = CALLERS.filter(
          (caller) => explainAccess(compiled, providers, caller).decision === 'allow',
        );
        const isAnyone = CALLERS.filter(
          ({ person, keyName, basicUser, certificateName, target, isPreflight }) =>
            person === undefined &&
            keyName === undefined &&
            basicUser === undefined &&
            certificateName === undefined &&
            target === '/' &&
            !isPreflight,
        ).every((caller) => allowed.includes(caller));
        const { admits, summary } = summaryOf(rules, summed, NOW_MS);
        const wanted = allowed.length === 0 ? 'nobody' : isAnyone ? 'everyone' : 'some';
        assert.equal(admits, wanted, `${rule}: ${summary}`);
      }
    });
});
