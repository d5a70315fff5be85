import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maintenanceProblem } from './maintenance.ts';
import { gatewayAnswerOf, ownAnswerProblem, type PathAnswer } from './own-answers.ts';

test('an answer that is wrong is refused by its place', () => {
  const redirect = (redirectTo: string, status?: number): PathAnswer =>
    status === undefined ? { path: '/a/*', redirectTo } : { path: '/a/*', redirectTo, status };
  const wrong: readonly (readonly [readonly PathAnswer[], string])[] = [
    [[{ path: '/a' }], '0.text'],
    [[{ path: '/a', text: '', redirectTo: '/b' }], '0.text'],
    [[{ path: 'a', text: '' }], '0.path'],
    [[{ path: '/a/../b', text: '' }], '0.path'],
    [[{ path: '/.frontdoor/x', text: '' }], '0.path'],
    [
      [
        { path: '/a', text: '' },
        { path: '/%61', text: '' },
      ],
      '1.path',
    ],
    [[{ path: '/a', text: '', status: 302 }], '0.status'],
    [[{ path: '/a', text: '', status: 204 }], '0.status'],
    [[{ path: '/a', text: '', contentType: 'text/html\r\nX: y' }], '0.contentType'],
    [[{ path: '/a', text: '\ud800' }], '0.text'],
    [[redirect('/b', 200)], '0.status'],
    [[redirect('/b', 304)], '0.status'],
    [[redirect('/b\r\nSet-Cookie: a=b')], '0.redirectTo'],
    [[redirect('/b c')], '0.redirectTo'],
    [[redirect('//evil.example')], '0.redirectTo'],
    [[redirect('/\\evil.example')], '0.redirectTo'],
    [[redirect('https://a\\@evil.example')], '0.redirectTo'],
    [[redirect('https://user@evil.example')], '0.redirectTo'],
    [[redirect('javascript:alert(1)')], '0.redirectTo'],
    [[redirect('')], '0.redirectTo'],
    [[{ path: '/a', redirectTo: '/b/*' }], '0.redirectTo'],
    [[...'abc'].map((name) => ({ path: `/${name}`, text: 'x'.repeat(4_000) })), ''],
  ];
  for (const [answers, place] of wrong)
    assert.equal(ownAnswerProblem(answers)?.place, place, JSON.stringify(answers).slice(0, 100));
  const right: readonly PathAnswer[] = [
    { path: '/robots.txt', text: 'User-agent: *\nDisallow: /\n' },
    { path: '/x', text: '', contentType: 'text/html; charset=utf-8', status: 410 },
    { path: '/', redirectTo: '/start?a=b#c', status: 308 },
    { path: '/a/*', redirectTo: 'https://new.example:8443/*' },
    { path: '/b/*', redirectTo: '/*' },
  ];
  assert.equal(ownAnswerProblem(right), undefined);
});

test('an answer has the usual status and the type of its path', () => {
  assert.deepEqual(gatewayAnswerOf({ path: '/a.json', text: '{}' }), {
    path: '/a.json',
    status: 200,
    text: '{}',
    contentType: 'application/json',
  });
  assert.deepEqual(gatewayAnswerOf({ path: '/a', redirectTo: '/b' }), {
    path: '/a',
    status: 302,
    location: '/b',
  });
});

test('the text of maintenance has lines and no control characters', () => {
  assert.equal(maintenanceProblem({ maintenanceText: 'Zurück um\n18 Uhr' }), undefined);
  assert.notEqual(maintenanceProblem({ maintenanceText: '\u001b[2J' }), undefined);
  assert.notEqual(maintenanceProblem({ maintenanceText: '\u202e' }), undefined);
});
