import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileReader } from '#base/shapes';
import { accessRulesSchema, OPEN_RULES, sentAccessRules, type AccessRules } from './access-rules.ts';

const readAccessRules = compileReader(accessRulesSchema);

/** The fields of the first version, which every gateway knows. */
const FIRST_FIELDS = [
  'emails',
  'claims',
  'basicAuth',
  'clientCertificate',
  'ip',
  'publicPaths',
  'expiresAtMs',
  'rateLimit',
  'session',
];

const CHANGED: AccessRules = {
  ...OPEN_RULES,
  emails: ['ann@example.com'],
  allowedOrigins: ['https://www.example.com'],
  responseTimeoutMs: 5_000,
};

test('encoded rules decode to the same rules', () => {
  for (const rules of [OPEN_RULES, CHANGED])
    assert.deepEqual(readAccessRules(JSON.parse(JSON.stringify(sentAccessRules(rules)))), {
      value: rules,
      lost: [],
    });
});

test('a later rule is sent where it is used, so that an older gateway closes these shares and no others', () => {
  assert.deepEqual(Object.keys(sentAccessRules(OPEN_RULES)).toSorted(), FIRST_FIELDS.toSorted());
  const later = Object.keys(sentAccessRules(CHANGED)).filter((name) => !FIRST_FIELDS.includes(name));
  assert.deepEqual(later.toSorted(), ['allowedOrigins', 'responseTimeoutMs']);
});
