// New shares and changed settings: what was filled in becomes the body that the API takes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  accessCommand,
  addressOn,
  changesOf,
  completedTarget,
  EMPTY_DRAFT,
  lackOf,
  newShareOf,
  settingsOf,
  streamAddressOn,
  stepOfField,
  targetOptions,
  withTargetOption,
  type ShareDraft,
} from './share-draft.ts';

const DRAFT: ShareDraft = { ...EMPTY_DRAFT, environmentId: 'e1', target: '3000' };

describe('the draft of a new share', () => {
  it('asks for agent, target and who may come in, step by step', () => {
    assert.equal(lackOf(EMPTY_DRAFT, 'what'), 'environmentId');
    assert.equal(lackOf({ ...DRAFT, target: ' ' }, 'what'), 'target');
    assert.equal(lackOf(DRAFT, 'what'), undefined);
    assert.equal(lackOf(DRAFT, 'where'), undefined);
    assert.equal(lackOf(DRAFT, 'who'), 'guard');
    assert.equal(lackOf({ ...DRAFT, guard: 'providers' }, 'who'), 'authProviderIds');
    assert.equal(lackOf({ ...DRAFT, guard: 'everybody' }, 'who'), undefined);
    assert.equal(lackOf({ ...DRAFT, shareMode: 'private' }, 'who'), undefined);
  });

  it('completes a port or a host to an address', () => {
    assert.equal(completedTarget(' 3000 '), 'http://127.0.0.1:3000');
    assert.equal(completedTarget('db.internal:80'), 'http://db.internal:80');
    assert.equal(completedTarget('https://db'), 'https://db');
    assert.equal(completedTarget(' /srv/my site/ '), 'file:///srv/my%20site');
    assert.equal(completedTarget(''), '');
  });

  it('has the options that its kind of target has', () => {
    assert.deepEqual(targetOptions('http://a/?listing'), {});
    const folder = completedTarget('/srv/www');
    assert.deepEqual(targetOptions(folder), { listing: false, 'single-page': false });
    const both = withTargetOption(withTargetOption(folder, 'single-page', true), 'listing', true);
    assert.equal(both, 'file:///srv/www?listing&single-page');
    assert.deepEqual(targetOptions(both), { listing: true, 'single-page': true });
    assert.equal(withTargetOption(withTargetOption(both, 'listing', false), 'single-page', false), folder);
    assert.equal(newShareOf({ ...DRAFT, target: both }).backendMode, 'web');
  });

  it('sends only what applies to its mode', () => {
    const chosen = { frontendIds: ['f1'], authProviderIds: ['p1'], grants: ['e2'] };
    const common = { environmentId: 'e1', target: 'http://127.0.0.1:3000', backendMode: 'proxy' };
    assert.deepEqual(newShareOf({ ...DRAFT, ...chosen, guard: 'providers', name: ' app ' }), {
      ...common,
      shareMode: 'public',
      name: 'app',
      frontendIds: ['f1'],
      authProviderIds: ['p1'],
    });
    assert.deepEqual(newShareOf({ ...DRAFT, authProviderIds: ['p1'], guard: 'everybody' }), {
      ...common,
      shareMode: 'public',
    });
    assert.deepEqual(newShareOf({ ...DRAFT, ...chosen, shareMode: 'private' }), {
      ...common,
      shareMode: 'private',
      grants: ['e2'],
    });
  });

  it('of a stream has a port or a name, and no provider', () => {
    const stream = {
      ...DRAFT,
      target: 'tcp://db:5432',
      guard: 'providers',
      authProviderIds: ['p1'],
    } as const;
    assert.equal(lackOf(stream, 'who'), 'guard');
    assert.equal(lackOf({ ...stream, guard: 'everybody' }, 'who'), undefined);
    const body = newShareOf({ ...stream, port: ' 20001 ' });
    assert.deepEqual([body.ingress, body.ingressPort, body.authProviderIds], ['port', 20_001, undefined]);
    const named = newShareOf({ ...stream, port: '20001', ingress: 'tls' });
    assert.deepEqual([named.ingress, named.ingressPort], ['tls', undefined]);
    const shown = (more: object) => streamAddressOn('https://{token}.a.example:8443', { ...stream, ...more });
    assert.equal(shown({ name: 'db', port: '' }), 'tcp://db.a.example:…');
    assert.equal(shown({ name: 'db', ingress: 'tls' }), 'tls://db.a.example:8443');
  });

  it('has the backend mode of its target', () => {
    const modeOf = (target: string) => newShareOf({ ...DRAFT, target, shareMode: 'private' }).backendMode;
    assert.deepEqual(['tcp://db:5432', 'UDP://ns:53', 'db:5432'].map(modeOf), [
      'tcpTunnel',
      'udpTunnel',
      'proxy',
    ]);
    assert.match(accessCommand({ token: 'ns', target: 'udp://ns:53' }), /access open ns .* --udp$/);
    assert.doesNotMatch(accessCommand({ token: 'db', target: 'tcp://db:5432' }), /--udp/);
  });

  it('finds the step of a field that the API refuses', () => {
    assert.equal(stepOfField('target'), 'what');
    assert.equal(stepOfField('frontendIds[0]'), 'where');
    assert.equal(stepOfField('grants.0'), 'who');
    assert.equal(stepOfField('other'), undefined);
  });

  it('shows the address of a name, also of one with signs that a replacement would read', () => {
    assert.equal(addressOn('https://{token}.example.com', ' App '), 'https://app.example.com');
    assert.equal(addressOn('https://{token}.example.com', "$&$'"), "https://$&$'.example.com");
    assert.equal(addressOn('https://{token}.example.com', ''), 'https://….example.com');
  });
});

describe('the settings of a share', () => {
  const before = settingsOf({
    target: 'http://127.0.0.1:3000',
    shareMode: 'public',
    frontendIds: ['f1', 'f2'],
    ingress: null,
    ingressPort: null,
    grants: [],
    reserved: true,
  });

  it('send what differs, and nothing else', () => {
    assert.equal(changesOf(before, { ...before, frontendIds: ['f2', 'f1'], target: '3000' }), undefined);
    assert.deepEqual(changesOf(before, { ...before, target: 'http://127.0.0.1:4000' }), {
      target: 'http://127.0.0.1:4000',
    });
    assert.deepEqual(changesOf(before, { ...before, target: 'tcp://127.0.0.1:22' }), {
      target: 'tcp://127.0.0.1:22',
      backendMode: 'tcpTunnel',
    });
    const stream = { ...before, target: 'tcp://127.0.0.1:22', port: '20001' };
    assert.deepEqual(changesOf(stream, { ...stream, port: '20002' }), { ingressPort: 20_002 });
    assert.deepEqual(changesOf(stream, { ...stream, ingress: 'tls', port: '20002' }), { ingress: 'tls' });
    assert.deepEqual(changesOf(before, { ...before, frontendIds: ['f1'], reserved: false }), {
      frontendIds: ['f1'],
      reserved: false,
    });
  });

  it('of another mode leave frontends or grants behind', () => {
    assert.deepEqual(changesOf(before, { ...before, shareMode: 'private', grants: ['e2'] }), {
      shareMode: 'private',
      grants: ['e2'],
    });
    const hidden = { ...before, shareMode: 'private' as const, frontendIds: [], grants: ['e2'] };
    assert.deepEqual(changesOf(hidden, { ...hidden, shareMode: 'public' }), {
      shareMode: 'public',
      frontendIds: [],
    });
  });
});
