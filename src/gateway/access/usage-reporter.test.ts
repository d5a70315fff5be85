import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { silentLog } from '#base';
import type { GatewayUsage } from '#domain/gateway-shapes';
import { UsageReporter } from './usage-reporter.ts';

test('many events of a second are one report, and one during a report is in the next', async (context) => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  context.after(() => mock.timers.reset());
  const reports: GatewayUsage[] = [];
  const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const reporter = new UsageReporter({
    report: (usage) => answers[reports.push(usage) - 1]!.promise,
    certifiedZones: () => [],
    domains: () => [],
    tcpPorts: undefined,
    udpPorts: undefined,
    log: silentLog,
  });
  const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
  for (let count = 0; count < 100; count += 1) reporter.reportSoon();
  assert.equal(reports.length, 0);
  mock.timers.tick(1_000);
  await turn();
  assert.equal(reports.length, 1);
  for (let count = 0; count < 100; count += 1) reporter.reportSoon();
  mock.timers.tick(1_000);
  await turn();
  assert.equal(reports.length, 1, 'the first one runs');
  answers[0]!.resolve();
  await turn();
  assert.equal(reports.length, 2);
  reporter.reportSoon();
  answers[1]!.resolve();
  await reporter.close();
  mock.timers.tick(2_000);
  await turn();
  assert.equal(reports.length, 2, 'none after the end');
});
