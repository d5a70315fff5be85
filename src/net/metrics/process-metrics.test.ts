import assert from 'node:assert/strict';
import { test } from 'node:test';
import { profilesShape } from '#domain/agent-shapes';
import { gatewayFeedShape, keptSharesShape } from '#domain/gateway-shapes';
import { PrometheusText } from '../../../test/support/prometheus-text.ts';
import { metricsText } from './metrics-endpoint.ts';

const counted = async (shape: string): Promise<number> => {
  const text = new PrometheusText(await metricsText([]));
  return text.value('frontdoor_shape_lost_entries_total', { shape }) ?? 0;
};

test('entries that a shape loses are counted by the shape, in the metrics of every part', async () => {
  const before = [await counted('share feed'), await counted('kept share list'), await counted('profiles')];
  const list = {
    version: 1,
    epoch: 'e',
    shares: [{ id: 'a' }, 7],
    providers: [{}],
    zones: ['share.example'],
  };
  const keys = { apiKeyPepper: '', identityKeys: [] };
  assert.ok('value' in gatewayFeedShape.read({ type: 'snapshot', ...list, keys }));
  assert.ok('value' in gatewayFeedShape.read({ type: 'heartbeat' }));
  assert.ok('value' in keptSharesShape.read({ ...list, providers: [] }));
  assert.ok('value' in profilesShape.read({ version: 1, profiles: { a: {} } }));
  const now = [await counted('share feed'), await counted('kept share list'), await counted('profiles')];
  assert.deepEqual(
    now.map((count, i) => count - before[i]!),
    [3, 2, 1],
  );
});

test('a value that is refused as a whole counts no entry, and its counter exists from then on', async () => {
  const before = await counted('profiles');
  assert.ok('problem' in profilesShape.read({ version: 1, profiles: 7 }));
  assert.equal(await counted('profiles'), before);
  const text = new PrometheusText(await metricsText([]));
  assert.notEqual(text.value('frontdoor_shape_lost_entries_total', { shape: 'profiles' }), undefined);
});
