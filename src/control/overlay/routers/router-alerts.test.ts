// Alerts of routers: passed on and logged, and no way to fill the log.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '#base';
import { ctrlMessages } from '#wire/ctrl';
import { recordingLog, type LogRecord } from '../../../../test/support/recording-log.ts';
import { FabricEvents, type FabricEventTable } from '../model/fabric-events.ts';
import type { ConnectedRouter } from '../mesh/connected-router.ts';
import { RouterAlerts } from './router-alerts.ts';

const router = (id: string): ConnectedRouter => ({ id }) as ConnectedRouter;

test('a router that reports without end is cut to a rate, and what was left out is counted', () => {
  const records: LogRecord[] = [];
  const events = new FabricEvents();
  const passedOn: FabricEventTable['alert'][] = [];
  events.listen('alert', (event) => void passedOn.push(event));
  const clock = new ManualClock(1_000);
  const log = recordingLog((record) => void records.push(record));
  const alerts = new RouterAlerts({ refusals: { reportedHello: () => {} }, events, clock, log });
  const [loud, quiet] = [router('loud'), router('quiet')];
  const flood = Array.from({ length: 100 }, (_, at) => ({ severity: 'error', message: `no eth${at}` }));
  for (let i = 0; i < 50; i += 1) alerts.onAlerts(loud, ctrlMessages.alerts.frame({ alerts: flood }));
  assert.deepEqual([records.length, passedOn.length], [200, 200]);
  alerts.onAlerts(quiet, ctrlMessages.alerts.frame({ alerts: [{ message: 'disk' }] }));
  assert.deepEqual(records.at(-1)?.fields['alert'], 'disk');
  clock.advance(1_000);
  alerts.onAlerts(loud, ctrlMessages.alerts.frame({ alerts: flood }));
  assert.deepEqual([records.length, passedOn.length], [206, 206]);
  assert.equal(records[201]?.fields['alsoBefore'], 4_800);
  assert.equal(records[202]?.fields['alsoBefore'], undefined);
});

test('texts of an alert are cut, in the log and for followers', () => {
  const records: LogRecord[] = [];
  const events = new FabricEvents();
  const passedOn: FabricEventTable['alert'][] = [];
  events.listen('alert', (event) => void passedOn.push(event));
  const log = recordingLog((record) => void records.push(record));
  const clock = new ManualClock(1_000);
  const alerts = new RouterAlerts({ refusals: { reportedHello: () => {} }, events, clock, log });
  const long = 'x'.repeat(1_000_000);
  const related = Object.fromEntries(
    Array.from({ length: 100 }, (_, at) => [`${at}${long}`.slice(0, 900), long]),
  );
  const alert = {
    severity: long,
    sourceType: long,
    sourceId: long,
    message: long,
    details: Array.from({ length: 100 }, () => long),
    relatedEntities: related,
  };
  alerts.onAlerts(router('r1'), ctrlMessages.alerts.frame({ alerts: [alert] }));
  assert.ok(JSON.stringify(records).length < 4_096, `${JSON.stringify(records).length}`);
  assert.ok(JSON.stringify(passedOn).length < 100_000, `${JSON.stringify(passedOn).length}`);
});
