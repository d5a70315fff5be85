// The alert rules and the dashboard of examples/monitoring: Prometheus accepts them, and each metric that they use exists.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { findCommand } from '../support/child-process.ts';

const FOLDER = fileURLToPath(new URL('../../examples/monitoring/', import.meta.url));
const PROMTOOL = findCommand('promtool');
const skip = PROMTOOL === undefined ? 'promtool is not in PATH (Debian: prometheus)' : false;

function read(name: string): string {
  return readFileSync(`${FOLDER}${name}`, 'utf8');
}

test('promtool accepts the configuration and the rules, and their tests pass', { skip }, () => {
  for (const args of [
    ['check', 'config', 'prometheus.yml'],
    ['test', 'rules', 'frontdoor-alerts.test.yml'],
  ]) {
    const { status, stdout, stderr } = spawnSync(PROMTOOL!, args, { cwd: FOLDER, encoding: 'utf8' });
    assert.equal(status, 0, `promtool ${args.join(' ')}: ${stdout}${stderr}`);
  }
});

test('every metric of the rules and of the dashboard stands in the guide', () => {
  const guide = readFileSync(new URL('../../docs/guide/metrics.md', import.meta.url), 'utf8');
  for (const file of ['frontdoor-alerts.yml', 'frontdoor-dashboard.json']) {
    const names = read(file).match(/\b(?:frontdoor|process|nodejs)_[a-z0-9_]+\b/g) ?? [];
    assert.ok(names.length > 10);
    for (const name of new Set(names)) {
      // The start of a regular expression.
      if (name === 'frontdoor_') continue;
      assert.ok(guide.includes(`\`${name.replace(/_bucket$/, '')}\``), `${name} of ${file}`);
    }
  }
});

test('the dashboard has panels with queries, each with its place and a unit', () => {
  const { panels } = JSON.parse(read('frontdoor-dashboard.json')) as {
    panels: {
      id: number;
      title: string;
      targets: { expr: string }[];
      fieldConfig: { defaults: { unit: string } };
    }[];
  };
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const { title, targets, fieldConfig } of panels) {
    assert.ok(
      targets.every(({ expr }) => expr !== ''),
      title,
    );
    assert.ok(fieldConfig.defaults.unit !== '', title);
  }
});
