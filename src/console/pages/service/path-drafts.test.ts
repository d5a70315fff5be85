// Services by path and answers of the gateway become drafts, and nothing that was stored is lost when one of them changes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  answerDraftOf,
  answerValueOf,
  compareAnswers,
  compareRoutes,
  NEW_ANSWER,
  NEW_ROUTE,
  routeDraftOf,
  routeValueOf,
} from './path-drafts.ts';

test('entries that nobody changed are sent as they were stored', () => {
  const routes = [
    { path: '/api', target: 'http://127.0.0.1:1', stripPath: false },
    { path: '/docs', target: 'file:///srv/docs' },
  ];
  const answers = [
    { path: '/robots.txt', text: ' a\r\nb\nc ', status: 200 },
    { path: '/old/*', redirectTo: '/new/*' },
    { path: '/later', file: 'a field of a newer version' },
  ];
  assert.deepEqual(routes.map(routeDraftOf).map(routeValueOf), routes);
  assert.deepEqual(answers.map(answerDraftOf).map(answerValueOf), answers);
});

test('a changed entry keeps the line ends of its text, and fields that are not in the form', () => {
  const stored = { path: '/a', text: 'a\r\nb', later: true };
  const draft = { ...answerDraftOf(stored), text: 'a\nb\nc', contentType: ' text/html ', status: '404' };
  const changed = { path: '/a', text: 'a\r\nb\r\nc', later: true, contentType: 'text/html', status: 404 };
  assert.deepEqual(answerValueOf(draft), changed);
  const redirect = { ...draft, kind: 'redirect', redirectTo: ' /b ', status: '' } as const;
  assert.deepEqual(answerValueOf(redirect), { path: '/a', later: true, redirectTo: '/b' });
  const route = routeDraftOf({ path: '/a', target: 'http://a', stripPath: true });
  const unstripped = { path: '/a', target: 'http://a', stripPath: false };
  assert.deepEqual(routeValueOf({ ...route, stripPath: false }), unstripped);
});

test('new entries have only the fields that were typed', () => {
  assert.deepEqual(routeValueOf({ ...NEW_ROUTE, path: ' /a ', target: ' http://a' }), {
    path: '/a',
    target: 'http://a',
  });
  assert.deepEqual(answerValueOf({ ...NEW_ANSWER, path: '/a' }), { path: '/a', text: '' });
  const wrong = { ...NEW_ANSWER, path: '/a', status: 'gone' };
  assert.deepEqual(answerValueOf(wrong), { path: '/a', text: '', status: 'gone' });
});

test('entries are shown in the order in which gateways match them, new ones last', () => {
  const route = (path: string) => routeDraftOf({ path, target: 'http://a' });
  const routes = [route('/a'), { ...NEW_ROUTE, path: '/a/b/c' }, route('/a/b')].toSorted(compareRoutes);
  assert.deepEqual(
    routes.map(({ path }) => path),
    ['/a/b', '/a', '/a/b/c'],
  );
  const answer = (path: string) => answerDraftOf({ path, text: '' });
  const answers = [{ ...NEW_ANSWER, path: '/z' }, ...['/*', '/b', '/a/*', '/a'].map(answer)];
  assert.deepEqual(
    answers.toSorted(compareAnswers).map(({ path }) => path),
    ['/b', '/a', '/a/*', '/*', '/z'],
  );
});
