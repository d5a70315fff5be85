// Settings become drafts, and only fields that a person changed are sent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShareUpstreamAnswer } from '#contract/schemas';
import { sectionsFor, upstreamChanges, upstreamDraftOf } from './upstream-draft.ts';

const settings: ShareUpstreamAnswer = {
  hostHeader: 'preserve',
  lenient: false,
  compression: ['zstd', 'gzip'],
  connectTimeoutSeconds: 5,
  idleTimeoutSeconds: 3_600,
  proxyProtocol: 'off',
  requestHeaders: [{ action: 'set', name: 'X-From', value: 'frontdoor' }],
  responseHeaders: [{ action: 'remove', name: 'Server' }],
  routes: [],
  answers: [],
  maintenance: false,
  maintenanceText: '',
  maintenanceRetrySeconds: 300,
  errorPage: null,
  tlsPin: null,
  tlsCa: null,
  tlsServerName: 'pve.example.com',
  tlsClient: null,
  tlsInsecure: false,
};
const draft = upstreamDraftOf(settings);

test('a draft that nobody changed changes nothing', () => {
  assert.equal(upstreamChanges(settings, draft), undefined);
});

test('changed fields are sent, an empty text as null', () => {
  const changes = upstreamChanges(settings, {
    ...draft,
    hostHeader: ' localhost ',
    tlsServerName: ' ',
    requestHeaders: [
      { action: 'add', name: ' X-A ', value: ' a ' },
      { action: 'remove', name: 'X-B', value: 'typed before' },
    ],
  });
  assert.deepEqual(changes, {
    hostHeader: 'localhost',
    requestHeaders: [
      { action: 'add', name: 'X-A', value: 'a' },
      { action: 'remove', name: 'X-B' },
    ],
    tlsServerName: null,
  });
});

test('a host that is left empty is sent, so that the API refuses it at its field', () => {
  assert.deepEqual(upstreamChanges(settings, { ...draft, hostHeader: '' }), { hostHeader: '' });
});

test('a share has the sections that have an effect', () => {
  const of = (shareMode: string, target: string) => sectionsFor({ shareMode, target });
  assert.deepEqual(of('public', 'http://127.0.0.1:3000'), ['requests', 'responses', 'paths', 'unavailable']);
  assert.deepEqual(of('public', 'https://pve:8006').at(-1), 'certificate');
  assert.deepEqual(of('private', 'https://pve:8006'), ['certificate']);
  assert.deepEqual(of('private', 'tcp://127.0.0.1:22'), []);
});

test('times are numbers and codings a list', () => {
  assert.equal(draft.compression, 'zstd, gzip');
  const none = upstreamDraftOf({ ...settings, compression: [], requestHeaders: [] });
  assert.deepEqual([none.compression, none.requestHeaders], ['', []]);
  const typed = {
    ...draft,
    compression: ' br ,gzip',
    connectTimeoutSeconds: ' 2 ',
    idleTimeoutSeconds: 'long',
  };
  assert.deepEqual(upstreamChanges(settings, typed), {
    compression: ['br', 'gzip'],
    connectTimeoutSeconds: 2,
    idleTimeoutSeconds: 'long',
  });
  assert.deepEqual(upstreamChanges(settings, { ...draft, compression: ' ' }), { compression: [] });
});

test('an empty message is sent as it is, and an empty page as none', () => {
  const set = { ...settings, maintenanceText: 'Back at 18:00', errorPage: '<h1>{{message}}</h1>' };
  const typed = { ...upstreamDraftOf(set), maintenance: true, maintenanceText: '', errorPage: ' ' };
  assert.deepEqual(upstreamChanges(set, typed), {
    maintenance: true,
    maintenanceText: '',
    errorPage: null,
  });
});
