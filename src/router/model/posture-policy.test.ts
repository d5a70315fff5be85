import assert from 'node:assert/strict';
import { test } from 'node:test';
import { postureFault, type Posture, type ReportedProcess } from '#domain/posture';
import { ctrlMessages, type CtrlInit, type DataState_PostureCheck } from '#wire/ctrl';

const NOW_MS = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;
const UNKNOWN: Posture = {
  os: undefined,
  domain: undefined,
  macAddresses: undefined,
  processes: new Map(),
  passedMfaMs: undefined,
  wokenMs: undefined,
  unlockedMs: undefined,
};

type Change = NonNullable<NonNullable<CtrlInit<'dataState'>['events']>[number]['model']>;
type CheckInit = Exclude<Extract<Change, { case: 'postureCheck' }>['value'], DataState_PostureCheck>;
type Subtype = NonNullable<CheckInit['subtype']>;

/** A check as a router receives it. */
function check(subtype: Subtype): DataState_PostureCheck {
  const value: CheckInit = { id: 'c', name: 'c', typeId: 't', subtype };
  const body = ctrlMessages.dataState.encode({ events: [{ model: { case: 'postureCheck', value } }] });
  const received = ctrlMessages.dataState.decode(body).events[0]!.model;
  assert.ok(received.case === 'postureCheck');
  return received.value;
}

function fault(subtype: Subtype, posture: Partial<Posture>): string | undefined {
  return postureFault(check(subtype), { ...UNKNOWN, ...posture }, NOW_MS);
}

test('an operating system passes by its type, in any case, and by its version', () => {
  const osList = [
    { osType: 'Windows', osVersions: ['>=10.0.0 <11.0.0', '>=12.0.0'] },
    { osType: 'macOS', osVersions: [] },
  ];
  const subtype = { case: 'osList' as const, value: { osList } };
  const os = (type: string, version: string): string | undefined => fault(subtype, { os: { type, version } });
  assert.equal(os('windows', '10.0.19045'), undefined);
  assert.equal(os('Windows', '12.1.0'), undefined);
  assert.equal(os('macos', 'any'), undefined);
  assert.match(os('Windows', '11.0.0')!, /version/);
  assert.match(os('Windows', 'made up')!, /version/);
  assert.match(os('Linux', '10.0.0')!, /operating system is not one/);
  assert.match(fault(subtype, {})!, /no operating system/);
});

test('a domain and a MAC address pass when the check lists one that was reported', () => {
  const domains = { case: 'domains' as const, value: { domains: ['corp', 'lab'] } };
  assert.equal(fault(domains, { domain: 'Lab' }), undefined);
  assert.match(fault(domains, { domain: 'home' })!, /domain is not one/);
  assert.match(fault(domains, {})!, /no domain/);
  const mac = { case: 'mac' as const, value: { macAddresses: ['00aa', '00bb'] } };
  assert.equal(fault(mac, { macAddresses: ['00cc', '00:BB'] }), undefined);
  assert.match(fault(mac, { macAddresses: ['00cc'] })!, /no MAC address is one/);
  assert.match(fault(mac, {})!, /no MAC address/);
});

test('a process passes when it runs, with a hash and a signer of the check; of several, all or one', () => {
  const os = { type: 'Linux', version: '6.8.0' };
  const wanted = { osType: 'linux', path: '/a', hashes: ['h1', 'h2'], fingerprints: ['s1'] };
  const running: ReportedProcess = {
    path: '/a',
    isRunning: true,
    hash: 'h2',
    signerFingerprints: ['s0', 's1'],
  };
  const given = (...processes: ReportedProcess[]): Partial<Posture> => ({
    os,
    processes: new Map(processes.map((process) => [process.path, process])),
  });
  const one = { case: 'process', value: wanted } as const;
  assert.equal(fault(one, given(running)), undefined);
  assert.match(fault(one, given())!, /not reported/);
  assert.match(fault(one, given({ ...running, isRunning: false }))!, /not running/);
  assert.match(fault(one, given({ ...running, hash: 'h3' }))!, /hash/);
  assert.match(fault(one, given({ ...running, signerFingerprints: [] }))!, /signer/);
  assert.match(
    fault(one, { ...given(running), os: { ...os, type: 'Windows' } })!,
    /another operating system/,
  );
  const processes = [wanted, { ...wanted, path: '/b' }];
  const both = given(running, { ...running, path: '/b' });
  const all = { case: 'processMulti' as const, value: { semantic: 'AllOf', processes } };
  const any = { case: 'processMulti' as const, value: { semantic: 'AnyOf', processes } };
  assert.equal(fault(all, both), undefined);
  assert.match(fault(all, given(running))!, /not reported/);
  assert.equal(fault(any, given(running)), undefined);
  assert.match(fault(any, given())!, /not reported/);
  assert.match(fault({ case: 'processMulti', value: { semantic: 'NoneOf', processes } }, both)!, /semantic/);
});

test('a one-time password passes until its timeout, and until the grace after waking or unlocking is over', () => {
  const forever = { timeoutSeconds: -1n };
  const mfa = (value: object, posture: Partial<Posture>): string | undefined =>
    fault({ case: 'mfa', value: { ...forever, ...value } }, posture);
  const ago = (minutes: number): number => NOW_MS - minutes * MINUTE_MS;
  assert.match(mfa({}, {})!, /no one-time password/);
  assert.equal(mfa({}, { passedMfaMs: ago(10_000) }), undefined);
  assert.equal(mfa({ timeoutSeconds: 600n }, { passedMfaMs: ago(9) }), undefined);
  assert.match(mfa({ timeoutSeconds: 600n }, { passedMfaMs: ago(11) })!, /too old/);
  for (const [prompt, at] of [
    ['promptOnWake', 'wokenMs'],
    ['promptOnUnlock', 'unlockedMs'],
  ] as const) {
    assert.equal(mfa({ [prompt]: true }, { passedMfaMs: ago(60), [at]: ago(4) }), undefined, 'in the grace');
    assert.match(mfa({ [prompt]: true }, { passedMfaMs: ago(60), [at]: ago(6) })!, /after the device/);
    assert.equal(mfa({ [prompt]: true }, { passedMfaMs: ago(5), [at]: ago(6) }), undefined, 'entered again');
    assert.equal(mfa({}, { passedMfaMs: ago(60), [at]: ago(6) }), undefined, 'not asked for');
  }
});

test('no check passes without posture, and none of an unknown kind', () => {
  const subtype = { case: 'domains' as const, value: { domains: [''] } };
  assert.match(postureFault(check(subtype), undefined, NOW_MS)!, /no posture/);
  assert.match(fault({ case: undefined }, { domain: '' })!, /does not know/);
});
