import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionPosture } from '#domain/posture';
import { sdkMessages, type PostureResponse } from '#wire/ctrl';

const NOW_MS = Date.UTC(2026, 0, 1);

function report(posture: SessionPosture, ...types: PostureReport[]): string | undefined {
  const body = sdkMessages.postureResponse.encode({ responses: types.map((type) => ({ type })) });
  return posture.report(sdkMessages.postureResponse.decode(body), NOW_MS);
}

type Encoded = NonNullable<Parameters<typeof sdkMessages.postureResponse.encode>[0]['responses']>[number];
type PostureReport = NonNullable<Exclude<Encoded, PostureResponse>['type']>;

function process(path: string, isRunning = true): PostureReport {
  return {
    case: 'processList',
    value: { processes: [{ path, isRunning, hash: 'h', signerFingerprints: ['s'] }] },
  };
}

test('a report replaces what it names and keeps the rest; processes are kept by path', () => {
  const posture = new SessionPosture();
  assert.equal(
    report(posture, { case: 'os', value: { type: 'Linux', version: '6.8.0' } }, process('/a')),
    undefined,
  );
  assert.equal(report(posture, process('/b'), { case: 'domain', value: { name: 'corp' } }), undefined);
  assert.equal(report(posture, process('/a', false)), undefined);
  assert.deepEqual(
    [posture.os, posture.domain, posture.version],
    [{ type: 'Linux', version: '6.8.0' }, 'corp', 3],
  );
  assert.deepEqual(
    [...posture.processes.values()].map(({ path, isRunning }) => [path, isRunning]),
    [
      ['/a', false],
      ['/b', true],
    ],
  );
});

test('a time of waking that is earlier than the last, or still to come, is not believed', () => {
  const posture = new SessionPosture();
  const woken = (ms: number): string | undefined =>
    report(posture, { case: 'woken', value: { time: { seconds: BigInt(ms / 1_000) } } });
  woken(NOW_MS - 60_000);
  woken(NOW_MS - 600_000);
  assert.equal(posture.wokenMs, NOW_MS - 60_000);
  woken(NOW_MS + 3_600_000);
  assert.equal(posture.wokenMs, NOW_MS);
});

test('a report that exceeds a bound, also together with earlier ones, changes nothing', () => {
  const posture = new SessionPosture();
  report(posture, { case: 'domain', value: { name: 'corp' } });
  const path = (index: number, length: number): string => String(index).padStart(length, '/');
  for (let index = 0; index < 100; index += 1) report(posture, process(path(index, 1_000)));
  assert.equal(posture.processes.size, 64);
  assert.equal(report(posture, process(path(1_000, 1_000))), 'the posture is too long');
  const many = Array.from({ length: 300 }, (_, index) => process(path(index, 4)));
  assert.equal(report(new SessionPosture(), ...many), 'too many processes');
  const addresses = Array.from({ length: 300 }, () => '00aa');
  assert.equal(report(posture, { case: 'macs', value: { addresses } }), 'too many MAC addresses');
  assert.deepEqual([posture.domain, posture.macAddresses], ['corp', undefined]);
});
