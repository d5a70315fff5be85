import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { FrontdoorError } from '#base';
import { parseTrustedIssuers } from './trusted-issuer-config.ts';
import { loadTrustedIssuers } from './trusted-issuer-file.ts';

const ORGANIZATION = '7d9f0a4e-5a0c-4c56-9f5a-0d2f6f8e1a11';
const WHOLE = `
- issuer: https://login.example
  audience: frontdoor
  jwksUri: https://login.example/keys
  algorithms: [EdDSA]
  organizationClaim: tenant
  organizations: { acme: ${ORGANIZATION} }
  scopeClaim: permissions
  scopes: [frontdoor.read, frontdoor.admin]
- { issuer: https://other.example, audience: x, jwksUri: "http://10.0.0.1/k", organizationClaim: org }
`;

function problemsOf(text: string): string[] {
  const parsed = parseTrustedIssuers(text);
  assert.ok('problems' in parsed, text);
  return parsed.problems.map(
    ({ path, line, message, value }) =>
      `${line} ${path}: ${message}${value === undefined ? '' : `, given ${JSON.stringify(value)}`}`,
  );
}

describe('the file of trusted issuers', () => {
  it('is a list with defaults for absent fields, in YAML or JSON', () => {
    const parsed = parseTrustedIssuers(WHOLE);
    assert.ok('issuers' in parsed, JSON.stringify(parsed));
    const [first, second] = parsed.issuers;
    assert.deepEqual(first!.organizations, { acme: ORGANIZATION });
    assert.deepEqual([first!.algorithms, first!.scopeClaim], [['EdDSA'], 'permissions']);
    assert.deepEqual(second!.algorithms, ['RS256', 'ES256']);
    assert.deepEqual([second!.scopeClaim, second!.scopes], ['scope', ['frontdoor.read', 'frontdoor.write']]);
    const json = parseTrustedIssuers(JSON.stringify(parsed.issuers));
    assert.deepEqual(json, parsed);
    assert.deepEqual(parseTrustedIssuers('[]'), { issuers: [] });
  });

  it('is refused with every problem, each with its line, its path and what was given', () => {
    const problems = problemsOf(`
- issuer: https://login.example
  audience: 5
  jwksUri: https://login.example/keys
  algorithms: [HS256]
  organisationClaim: tenant
  scopes: [frontdoor.root]
- audience: x
`);
    for (const pattern of [
      /^2 \[0\]: must have organizationClaim$/,
      /^3 \[0\]\.audience: must be a text of 1 to 2048 characters, given 5$/,
      /^5 \[0\]\.algorithms\[0\]: must be an asymmetric algorithm: RS256, .*, given "HS256"$/,
      /^6 \[0\]\.organisationClaim: is not a field here; known fields are issuer, .*, given "tenant"$/,
      /^7 \[0\]\.scopes\[0\]: must be frontdoor\.read or frontdoor\.write or frontdoor\.organization or frontdoor\.admin, given "frontdoor\.root"$/,
      /^8 \[1\]: must have issuer$/,
      /^8 \[1\]: must have jwksUri$/,
      /^8 \[1\]: must have organizationClaim$/,
    ]) {
      assert.ok(
        problems.some((problem) => pattern.test(problem)),
        `${pattern.source} in\n${problems.join('\n')}`,
      );
    }
    assert.equal(problems.length, 8, problems.join('\n'));
  });

  it('is refused for a combination of its fields', () => {
    const entry = { issuer: 'a', audience: 'x', jwksUri: 'https://a/k', organizationClaim: 'org' };
    assert.deepEqual(
      problemsOf(
        JSON.stringify([
          { ...entry, jwksUri: 'ftp://a/k' },
          { ...entry, jwksUri: 'nonsense', organizations: { acme: 'acme' } },
          { ...entry, issuer: 'b#c' },
        ]),
      ).map((problem) => problem.replace(/^\d+ /, '')),
      [
        '[0].jwksUri: must be an https:// address, given "ftp://a/k"',
        '[1].jwksUri: must be an https:// address, given "nonsense"',
        '[1].issuer: is also the issuer of [0], given "a"',
        '[1].organizations.acme: must be the id of an organization, given "acme"',
        '[2].issuer: must not hold #, given "b#c"',
      ],
    );
    for (const text of ['', 'issuers: []', '"x"', '[', `- &a [*a]`, '- !!js/function x', 'x'.repeat(2 << 20)])
      assert.ok(problemsOf(text).length > 0, text.slice(0, 20));
    const bomb = `- &a [x,x,x]\n${'bcdefghij'.replaceAll(/./g, (c) => `- &${c} [${`*${String.fromCodePoint(c.codePointAt(0)! - 1)},`.repeat(9)}]\n`)}`;
    assert.match(problemsOf(bomb).join(), /alias/i);
  });

  it('is refused when others may write it, or when it is not there', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'issuers-'));
    const path = join(folder, 'issuers.yaml');
    const fails = (message: RegExp) => (error: unknown) => {
      assert.ok(error instanceof FrontdoorError && error.kind === 'invalid', String(error));
      assert.match(error.message, message);
      return true;
    };
    await assert.rejects(loadTrustedIssuers(path), fails(/--trusted-issuers: cannot use .*ENOENT/));
    writeFileSync(path, WHOLE, { mode: 0o600 });
    assert.equal((await loadTrustedIssuers(path)).length, 2);
    chmodSync(path, 0o622);
    await assert.rejects(loadTrustedIssuers(path), fails(/chmod go-w/));
    chmodSync(path, 0o600);
    writeFileSync(path, '- {}');
    await assert.rejects(
      loadTrustedIssuers(path),
      fails(/cannot be used:\n {2}.*issuers\.yaml:1:3 error \[0\]: must have/),
    );
    rmSync(folder, { recursive: true });
  });
});
