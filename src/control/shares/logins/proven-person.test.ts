import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MAX_IDENTITY_BYTES } from '#domain/access';
import { personOf, verifiedEmail } from './proven-person.ts';

const rule = { trustsUnsaid: false };

describe('the person that an identity provider names', () => {
  it('has an e-mail only when it is verified, in lower case', () => {
    const email = 'Ann@Example.COM';
    const said: readonly (readonly [unknown, boolean, string | null])[] = [
      [true, false, 'ann@example.com'],
      ['true', false, null],
      ['true', true, null],
      [undefined, false, null],
      [undefined, true, 'ann@example.com'],
      [false, true, null],
      ['false', true, null],
      [1, true, null],
      [null, true, null],
      ['TRUE', true, null],
    ];
    for (const [email_verified, trusts, expected] of said) {
      const claims = email_verified === undefined ? { email } : { email, email_verified };
      assert.equal(verifiedEmail(claims, trusts), expected, JSON.stringify(claims));
    }
    for (const bad of ['', 'ann', 'a b@c', 'a@b@c', '@', 5, ['ann@example.com'], `${'a'.repeat(400)}@b`])
      assert.equal(verifiedEmail({ email: bad, email_verified: true }, false), null);
  });

  it('has no e-mail that some letter beyond ASCII would make another one’s', () => {
    for (const email of [
      'mar\u212a@example.com',
      'ann@ban\u212a.example',
      'ann@\u0130example.com',
      'a\u017f@b.example',
    ])
      assert.equal(verifiedEmail({ email, email_verified: true }, false), null, email);
  });

  it('takes e-mail and its verification from one document, the ID token before userinfo', () => {
    const token = { sub: 'a', email: 'token@example.com' };
    const info = { sub: 'a', email: 'info@example.com', email_verified: true };
    assert.equal(personOf('a', [token, info], rule)!.email, 'info@example.com');
    const both = { ...token, email_verified: true };
    assert.equal(personOf('a', [both, info], rule)!.email, 'token@example.com');
    const mixed = [{ email: 'unverified@example.com' }, { sub: 'a', email_verified: true }];
    assert.equal(personOf('a', mixed, rule)!.email, null);
  });

  it('has claims of the person, whole or not at all, within their bound', () => {
    const person = personOf(
      'a',
      [
        {
          iss: 'x',
          nonce: 'y',
          exp: 1,
          sub: 'a',
          groups: ['staff', 5, 'admin'],
          realm: { roles: ['r'] },
          level: 3,
          isGood: true,
          nothing: null,
          large: 'x'.repeat(MAX_IDENTITY_BYTES),
          ['__proto__x']: 1,
        },
      ],
      rule,
    )!;
    assert.deepEqual(person.claims, {
      sub: 'a',
      groups: ['staff', 5, 'admin'],
      realm: { roles: ['r'] },
      level: 3,
      isGood: true,
      ['__proto__x']: 1,
    });
    assert.deepEqual(person.groups, ['staff', 'admin']);
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`claim-${i}`, 'x'.repeat(20)]));
    const bounded = personOf('a', [{ ...many, groups: ['staff'] }], rule)!;
    assert.ok(Buffer.byteLength(JSON.stringify(bounded.claims)) <= MAX_IDENTITY_BYTES);
    assert.deepEqual(bounded.groups, ['staff'], 'what rules look at comes first');
    const deep = JSON.parse('{"a":{"b":{"c":{"d":{"e":{"f":1}}}}},"__proto__":{"isAdmin":true}}') as object;
    const strange = personOf('a', [deep as Record<string, unknown>], rule)!;
    assert.deepEqual(strange.claims, {});
    assert.equal((strange.claims as { isAdmin?: unknown }).isAdmin, undefined);
  });

  it('has a subject of a length that can be kept', () => {
    assert.equal(personOf('', [{}], rule), undefined);
    assert.equal(personOf('a'.repeat(256), [{}], rule), undefined);
    assert.equal(personOf('a'.repeat(255), [{ name: 'n'.repeat(999) }], rule)!.name!.length, 255);
  });
});
