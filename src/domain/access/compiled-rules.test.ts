// Admission by rules only: time, address, certificate, e-mail, claims.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { OPEN_RULES, type AccessRules } from './access-rules.ts';
import type { CallerIdentity } from './caller-identity.ts';
import { isCertificateName } from './certificate-names.ts';
import { compileRules, decideIdentity, decideNetwork, needsIdentity, pathKind } from './compiled-rules.ts';
import { canonicalEmail, parseEmailPattern } from './email-pattern.ts';

const rulesOf = (part: Partial<AccessRules>) => compileRules({ ...OPEN_RULES, ...part });
const from = (address: string) => ({ nowMs: 0, address, certificate: undefined });

function person(part: Partial<CallerIdentity> = {}): CallerIdentity {
  return {
    providerId: 'p',
    kind: 'session',
    subject: 's',
    email: 'ann@example.com',
    name: null,
    groups: [],
    claims: {},
    ...part,
  };
}

suite('rules that ask for nothing', () => {
  test('admit everyone, and every path needs the credentials of the share', () => {
    const open = compileRules(null);
    assert.equal(decideNetwork(open, from('not an address')), undefined);
    assert.equal(decideIdentity(open, person({ email: null })), undefined);
    assert.equal(pathKind(open, '/a/../b;x%00'), 'guarded');
    assert.equal(needsIdentity(open, []), false);
    assert.equal(needsIdentity(open, ['p']), true);
    assert.equal(needsIdentity(rulesOf({ basicAuth: [{ name: 'a', passwordHash: 'x' }] }), []), true);
  });
});

suite('time', () => {
  test('ends access at the very millisecond', () => {
    const rules = rulesOf({ expiresAtMs: 1_000 });
    const at = (nowMs: number) => decideNetwork(rules, { ...from('192.0.2.1'), nowMs });
    assert.equal(at(999), undefined);
    assert.equal(at(1_000), 'access-expired');
  });
});

suite('addresses', () => {
  const decide = (ip: AccessRules['ip'], address: string) => decideNetwork(rulesOf({ ip }), from(address));

  test('that are denied are denied, also when they are allowed', () => {
    const ip = { allow: ['10.0.0.0/8'], deny: ['10.1.0.0/16', '10.2.3.4'] };
    assert.equal(decide(ip, '10.0.0.1'), undefined);
    assert.equal(decide(ip, '10.1.255.255'), 'address-denied');
    assert.equal(decide(ip, '10.2.3.4'), 'address-denied');
    assert.equal(decide(ip, '10.2.3.5'), undefined);
    assert.equal(decide(ip, '11.0.0.1'), 'address-not-allowed');
  });

  test('without an allow list all but the denied come in', () => {
    assert.equal(decide({ allow: [], deny: ['10.0.0.0/8'] }, '192.0.2.1'), undefined);
  });

  test('of IPv4 in IPv6 clothes are judged as IPv4, in rules too', () => {
    assert.equal(decide({ allow: ['10.0.0.0/8'], deny: [] }, '::ffff:10.1.2.3'), undefined);
    assert.equal(decide({ allow: [], deny: ['::ffff:10.0.0.0/104'] }, '10.1.2.3'), 'address-denied');
    assert.equal(decide({ allow: ['::/0'], deny: [] }, '10.1.2.3'), 'address-not-allowed');
  });

  test('of an interface are judged without its name', () => {
    assert.equal(decide({ allow: [], deny: ['fe80::/10'] }, 'fe80::1%eth0'), 'address-denied');
    assert.equal(decide({ allow: ['fe80::/10'], deny: [] }, 'fe80::1%eth0'), undefined);
  });

  test('that cannot be read, and rules that cannot, admit nobody', () => {
    assert.equal(decide({ allow: [], deny: ['10.0.0.0/8'] }, 'unknown'), 'address-denied');
    assert.equal(decide({ allow: ['10.0.0.0/33'], deny: [] }, '10.0.0.1'), 'address-not-allowed');
    assert.equal(decide({ allow: [], deny: ['10.0.0.0/x'] }, '192.0.2.1'), 'address-denied');
  });
});

suite('client certificates', () => {
  const rules = rulesOf({
    clientCertificate: { authorities: ['PEM'], names: ['Build-7', 'api.example.com', '*@example.com'] },
  });
  const shown = (isTrusted: boolean, ...names: string[]) =>
    decideNetwork(rules, { ...from('192.0.2.1'), certificate: { isTrusted, names } });

  test('are needed, trusted and named', () => {
    assert.equal(rules.needsCertificate, true);
    assert.equal(decideNetwork(rules, from('192.0.2.1')), 'certificate-missing');
    assert.equal(shown(false, 'build-7'), 'certificate-not-trusted');
    assert.equal(shown(true, 'build-8'), 'certificate-not-allowed');
    assert.equal(shown(true), 'certificate-not-allowed');
    for (const name of ['build-7', 'API.example.com', 'Ann@Example.com'])
      assert.equal(shown(true, 'other', name), undefined, name);
  });

  test('of any name will do when no name is given', () => {
    const any = rulesOf({ clientCertificate: { authorities: ['PEM'], names: [] } });
    const certificate = { isTrusted: true, names: [] };
    assert.equal(decideNetwork(any, { ...from('192.0.2.1'), certificate }), undefined);
    const stranger = { isTrusted: false, names: [] };
    assert.equal(
      decideNetwork(any, { ...from('192.0.2.1'), certificate: stranger }),
      'certificate-not-trusted',
    );
  });

  test('with a star of their own, or a letter that only looks alike, fit no name', () => {
    assert.equal(shown(true, '*.example.com'), 'certificate-not-allowed');
    assert.equal(shown(true, '*@evil.example'), 'certificate-not-allowed');
    const kelvin = rulesOf({ clientCertificate: { authorities: ['PEM'], names: ['key'] } });
    const certificate = { isTrusted: true, names: ['\u212aey'] };
    assert.equal(decideNetwork(kelvin, { ...from('192.0.2.1'), certificate }), 'certificate-not-allowed');
  });

  test('are named by whole names or all of a domain', () => {
    for (const name of ['Ann Smith', 'api.example.com', '*@example.com', 'Zoë'])
      assert.ok(isCertificateName(name), name);
    for (const name of ['', '*', '*.example.com', 'a*@example.com', 'a\nb', 'x'.repeat(256)])
      assert.ok(!isCertificateName(name), name);
  });
});

suite('email patterns', () => {
  const fits = (pattern: string, email: string) =>
    decideIdentity(rulesOf({ emails: [pattern] }), person({ email })) === undefined;

  test('mean one address or all of exactly one domain, whatever the case', () => {
    assert.ok(fits('Ann@Example.com', 'ann@EXAMPLE.com'));
    assert.ok(fits('*@Example.com', 'ANN+tag@example.COM'));
    for (const email of [
      'ann@sub.example.com',
      'ann@notexample.com',
      'ann@example.com.evil.example',
      'ann@example.co',
      'ann@evil.example@example.com',
      '"ann@example.com"@evil.example',
      '"a@b"@example.com',
      'ann@example.com ',
      ' ann@example.com',
      'ann@example.com\u0000',
      'ann@example.com.',
      '@example.com',
      'ann@exampl\u212a.com',
    ])
      assert.ok(!fits('*@example.com', email), JSON.stringify(email));
    assert.ok(!fits('ann@example.com', 'ann+x@example.com'));
    assert.ok(!fits('kate@example.com', '\u212aate@example.com'));
    assert.ok(!fits('*@b\u00fccher.example', 'ann@b\u00fccher.example'));
    assert.ok(fits('*@xn--bcher-kva.example', 'ann@xn--bcher-kva.example'));
  });

  test('have at most one star, for the whole local part', () => {
    for (const text of [
      '*',
      '*@*',
      'a*@example.com',
      '**@example.com',
      '*@*.example.com',
      'ann@*',
      'ann',
      'a@b@c',
      '',
    ]) {
      assert.equal(parseEmailPattern(text), undefined, text);
    }
    assert.deepEqual(parseEmailPattern('*@Example.com'), { domain: 'example.com' });
    assert.deepEqual(parseEmailPattern("O'Neil@Example.com"), { email: "o'neil@example.com" });
    assert.equal(canonicalEmail(`${'a'.repeat(65)}@example.com`), undefined);
  });

  test('are asked of log-ins and tokens, and nobody without an e-mail fits', () => {
    const rules = rulesOf({ emails: ['*@example.com'] });
    assert.equal(decideIdentity(rules, person({ email: null })), 'email-missing');
    assert.equal(decideIdentity(rules, person({ email: 'a@b.example', kind: 'token' })), 'email-not-allowed');
    for (const kind of ['api-key', 'basic', 'certificate'] as const)
      assert.equal(decideIdentity(rules, person({ email: null, kind })), undefined, kind);
  });
});

suite('claim rules', () => {
  const decide = (claims: AccessRules['claims'], identity: Partial<CallerIdentity>) =>
    decideIdentity(rulesOf({ claims }), person(identity));

  test('hold when the claim is, or holds, one of the values; all rules must', () => {
    const rules = [
      { claim: 'groups', anyOf: ['ops', 'dev'] },
      { claim: 'level', anyOf: ['3'] },
    ];
    assert.equal(decide(rules, { groups: ['x', 'dev'], claims: { level: 3 } }), undefined);
    assert.equal(decide(rules, { groups: ['dev'], claims: { level: 2 } }), 'claim-not-met');
    assert.equal(decide(rules, { groups: [], claims: { level: 3 } }), 'claim-not-met');
    assert.equal(decide(rules, { groups: ['dev,ops', 'Dev'], claims: { level: 3 } }), 'claim-not-met');
  });

  test('go into objects by dots, but a claim of that whole name is meant first', () => {
    const rule = [{ claim: 'realm_access.roles', anyOf: ['admin'] }];
    assert.equal(decide(rule, { claims: { realm_access: { roles: ['admin'] } } }), undefined);
    assert.equal(decide(rule, { claims: { 'realm_access.roles': 'admin' } }), undefined);
    const both = { 'realm_access.roles': 'user', realm_access: { roles: ['admin'] } };
    assert.equal(decide(rule, { claims: both }), 'claim-not-met');
    assert.equal(
      decide([{ claim: 'https://example.com/roles', anyOf: ['a'] }], {
        claims: { 'https://example.com/roles': ['a'] },
      }),
      undefined,
    );
  });

  test('find nothing in what every object has, in lists of lists, or in objects', () => {
    for (const claim of ['constructor.name', '__proto__', 'toString', 'a.length', 'a.0', 'b'])
      assert.equal(
        decide([{ claim, anyOf: ['Object', '1', 'x', '[object Object]', 'undefined', 'null'] }], {
          claims: { a: ['x'], b: [['x'], { x: 'x' }, null] },
        }),
        'claim-not-met',
        claim,
      );
  });
});
