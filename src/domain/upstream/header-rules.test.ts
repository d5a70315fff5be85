import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headerRuleProblem, type HeaderRule } from './header-rules.ts';

test('a header rule that is wrong is refused by its place', () => {
  const set = (name: string, value: string): HeaderRule => ({ action: 'set', name, value });
  const wrong: readonly (readonly [readonly HeaderRule[], string, RegExp])[] = [
    [[set('X-A', '1'), set('a b', '1')], '1.name', /header name/],
    [[set('X-A', 'a\r\nSet-Cookie: b')], '0.value', /no line breaks/],
    [[set('X-A', 'a\0')], '0.value', /header value/],
    [[set('X-A', ' a')], '0.value', /header value/],
    [[set('X-A', '')], '0.value', /header value/],
    [[set('Content-Length', '1')], '0.name', /where a body ends/],
    [[set('x_forwarded_for', '1')], '0.name', /only gateways/],
    [[set('Set-Cookie', 'a=b')], '0.name', /credentials/],
    [[set('Authorization', 'Basic x')], '0.name', /credentials/],
    [[set('Host', 'a')], '0.name', /hostHeader/],
    [[{ action: 'remove', name: 'X-A', value: '1' }], '0.value', /absent/],
    [[{ action: 'add', name: 'X-A' }], '0.value', /header value/],
    [[set('X-A', '1'), set('x-a', '2')], '1.name', /once/],
    [[...'abc'].map((name) => set(name, 'x'.repeat(4_000))), '', /at most 8192/],
  ];
  for (const [rules, place, rule] of wrong) {
    const problem = headerRuleProblem(rules);
    assert.equal(problem?.place, place, JSON.stringify(rules).slice(0, 100));
    assert.match(problem.rule, rule);
  }
  const right: readonly HeaderRule[] = [
    set('Content-Security-Policy', "default-src 'self'; img-src *"),
    { action: 'remove', name: 'Server' },
    { action: 'add', name: 'X-A', value: '1' },
    { action: 'add', name: 'X-A', value: '2' },
  ];
  assert.equal(headerRuleProblem(right), undefined);
});
