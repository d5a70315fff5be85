import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { silentLog } from '#base';
import { metricsText } from '#net/metrics';
import { until } from '../../../test/support/deadline.ts';
import { PrometheusText } from '../../../test/support/prometheus-text.ts';
import '../pki/edge-api-key-fixture.ts';
import { startControlPlane } from './control-plane.ts';
import type { ControlPlane } from './control-plane-options.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'frontdoor-last-backup-'));
after(() => rmSync(dataDir, { recursive: true }));

function start(): Promise<ControlPlane> {
  return startControlPlane({
    dataDir,
    listenHost: '127.0.0.1',
    advertiseHost: 'localhost',
    zone: 'share.localhost',
    apiPort: 0,
    edgeApiPort: 0,
    ctrlPort: 0,
    frontendUrls: () => [],
    log: silentLog,
    hasConsole: false,
  });
}

async function lastBackup(control: ControlPlane): Promise<number | undefined> {
  const text = new PrometheusText(await metricsText([control.writeMetrics]));
  return text.value('frontdoor_control_last_backup_timestamp_seconds');
}

it('the time of the last backup is a metric from its end on, after a restart, too', async () => {
  const first = await start();
  assert.equal(await lastBackup(first), undefined);
  const { accountId, apiToken } = first.firstStart!;
  const startS = Math.floor(Date.now() / 1_000);
  const authorization = `Basic ${Buffer.from(`${accountId}:${apiToken}`).toString('base64')}`;
  const answer = await fetch(`${first.baseUrl}/backup`, { headers: { authorization } });
  await answer.arrayBuffer();
  const { value } = await until(
    'the stored time',
    () => lastBackup(first),
    (seconds) => seconds !== undefined,
  );
  assert.ok(value! >= startS);
  await first.close();
  const second = await start();
  assert.equal(await lastBackup(second), value);
  await second.close();
});
