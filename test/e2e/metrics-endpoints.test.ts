// Metrics of all parts as `up` serves them: in Prometheus's format, true to what the installation does, and as the
// guide lists them. Parts as processes of their own are in observability.test.ts.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { metricsText } from '#net/metrics';
import { until } from '../support/deadline.ts';
import { startPrivateService, type PrivateService } from '../support/private-service.ts';
import { PrometheusText } from '../support/prometheus-text.ts';
import { openWorld, type World, type WorldAgent } from '../support/world.ts';

const GUIDE = readFileSync(new URL('../../docs/guide/metrics.md', import.meta.url), 'utf8');

describe('metrics', () => {
  let world: World;
  let agent: WorldAgent;
  let service: PrivateService;

  before(async () => {
    service = await startPrivateService();
    world = await openWorld({ metrics: { host: '127.0.0.1', port: 0 } });
    agent = await world.startAgent('home');
    await agent.share(`http://127.0.0.1:${service.port}`, { name: 'app' });
    assert.equal((await world.get('app.share.localhost', '/bytes/1000')).status, 200);
  });
  after(async () => {
    await world?.close();
    await service?.close();
  });

  const scrape = async (): Promise<PrometheusText> => {
    const served = world.records.find(({ message }) => message === 'metrics are served');
    const answer = await fetch(`http://127.0.0.1:${String(served?.fields['port'])}/metrics`);
    assert.equal(answer.status, 200);
    return new PrometheusText(await answer.text());
  };
  const scrapeAgent = async (): Promise<PrometheusText> =>
    new PrometheusText(await metricsText([agent.agent.writeMetrics]));
  const ours = ({ types }: PrometheusText): string[] =>
    [...types.keys()].filter((name) => name.startsWith('frontdoor_'));

  it('of up are those of gateway, control plane and router together, and of the process once', async () => {
    const { value: text } = await until('a deployed share', scrape, (found) => {
      const deployed = found.value('frontdoor_control_shares', { status: 'deployed' });
      return deployed === 1;
    });
    for (const [name, labels, value] of [
      ['frontdoor_gateway_share_requests_total', { share: 'app' }, 1],
      ['frontdoor_control_shares', { status: 'pending' }, 0],
      ['frontdoor_control_shares', { status: 'failed' }, 0],
      ['frontdoor_control_environments', {}, 1],
      ['frontdoor_control_connected_environments', {}, 1],
      ['frontdoor_control_routers', {}, 1],
      ['frontdoor_control_connected_routers', {}, 1],
      ['frontdoor_control_links', {}, 0],
      ['frontdoor_control_terminators', {}, 1],
      ['frontdoor_shape_lost_entries_total', { shape: 'share feed' }, 0],
    ] as const)
      assert.equal(text.value(name, labels), value, `${name} ${JSON.stringify(labels)}`);
    // The gateway's and the agent's.
    assert.equal(text.value('frontdoor_control_api_sessions'), 2);
    assert.ok(text.value('frontdoor_control_circuits')! >= 1);
    assert.ok(text.value('ziti_ingress_rx_bytesrate_total')! > 0);
    assert.ok(text.value('process_resident_memory_bytes')! > 0);
  });

  it('of the control plane count statements and events of the audit trail as they come', async () => {
    const before = await scrape();
    const created = await world.call('POST', '/agents/enrollments');
    assert.equal(created.status, 201);
    const now = await scrape();
    const grown = (name: string): number => now.value(name)! - before.value(name)!;
    assert.equal(grown('frontdoor_control_audit_events_total'), 1);
    assert.ok(grown('frontdoor_control_sql_statements_total') >= 2);
  });

  it('of an agent show its shares, the health of their targets, and the bytes of circuits', async () => {
    const { value: text } = await until(
      'a healthy target',
      scrapeAgent,
      (found) => found.value('frontdoor_agent_share_target_healthy', { share: 'app' }) === 1,
    );
    for (const [name, labels, value] of [
      ['frontdoor_agent_control_plane_connected', {}, 1],
      ['frontdoor_agent_shares', { hosting: 'bound' }, 1],
      ['frontdoor_agent_shares', { hosting: 'failed' }, 0],
      ['frontdoor_agent_targets', { health: 'passing' }, 1],
      ['frontdoor_agent_targets', { health: 'failing' }, 0],
      ['frontdoor_agent_failed_circuits_total', {}, 0],
    ] as const)
      assert.equal(text.value(name, labels), value, `${name} ${JSON.stringify(labels)}`);
    assert.ok(text.value('frontdoor_agent_circuits_total')! >= 1);
    assert.ok(text.value('frontdoor_agent_received_bytes_total')! > 1_000);
    assert.ok(text.value('frontdoor_agent_sent_bytes_total')! > 0);
  });

  it('keep the bytes of closed circuits, and count circuits whose target cannot be reached', async () => {
    const before = await scrapeAgent();
    await service.close();
    assert.equal((await world.get('app.share.localhost', '/')).status, 502);
    const now = await scrapeAgent();
    for (const name of ['circuits_total', 'sent_bytes_total', 'received_bytes_total'])
      assert.ok(
        now.value(`frontdoor_agent_${name}`)! >= before.value(`frontdoor_agent_${name}`)!,
        `${name} never shrinks`,
      );
    assert.ok(now.value('frontdoor_agent_failed_circuits_total')! >= 1);
  });

  it('of up come with its health: ready are its database, its router and its list of shares', async () => {
    const served = world.records.find(({ message }) => message === 'metrics are served');
    const answer = await fetch(`http://127.0.0.1:${String(served?.fields['port'])}/health/ready`);
    assert.equal(answer.status, 200);
    const checks = { shares: true, database: true, routers: true };
    const { version, ...readiness } = (await answer.json()) as Readonly<Record<string, unknown>>;
    assert.equal(typeof version, 'string');
    assert.deepEqual(readiness, { status: 'ready', checks });
    const text = await scrape();
    for (const name of ['root authority', 'intermediate authority', 'edge API', 'control channel']) {
      const seconds = text.value('frontdoor_control_certificate_expiry_timestamp_seconds', {
        certificate: name,
      });
      assert.ok(seconds! > Date.now() / 1_000, name);
    }
    const refused = (found: PrometheusText) =>
      found.value('frontdoor_control_refused_credentials_total', { at: 'management' })!;
    const before = refused(text);
    const url = `${world.up.control.baseUrl}/frontdoor`;
    assert.equal((await fetch(url, { headers: { authorization: 'Basic YTpi' } })).status, 401);
    await until('the refusal is counted', scrape, (found) => refused(found) === before + 1);
    assert.equal(text.value('frontdoor_gateway_routers'), 1);
    assert.equal(text.value('frontdoor_control_database_up'), 1);
  });

  it('stand in the guide, each with its name', async () => {
    for (const name of [...ours(await scrape()), ...ours(await scrapeAgent())])
      assert.ok(GUIDE.includes(`\`${name}\``), `${name} is in docs/guide/metrics.md`);
  });
});
