/**
 * `node bin/frontdoor.js dev node tools/release/render-manifests.ts`: renders the chart to `deploy/manifests/NAME.yaml` with the values
 * of each `NAME.values.yaml` there, by the helm that HELM_BIN names.
 */
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { repositoryRoot } from '../pinned-process.ts';
import { copyChart } from './chart.ts';

const MANIFESTS_FOLDER = join(repositoryRoot, 'deploy/manifests');
const VALUES = '.values.yaml';
/** The oldest one that the chart accepts. */
const KUBERNETES_VERSION = '1.27.0';
const HEAD = `# Rendered from deploy/chart by tools/release/render-manifests.ts with the values of NAME${VALUES}. Change those values and
# render it again, or replace the names and addresses of example.com here. docs/guide/kubernetes.md describes the order.
`;

/** The texts of the manifests by their paths. */
export function renderManifests(helm: string): ReadonlyMap<string, string> {
  const top = mkdtempSync(join(tmpdir(), 'frontdoor-manifests-'));
  try {
    const { version } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as {
      version: string;
    };
    const chart = copyChart(top, version);
    const texts = globSync(`*${VALUES}`, { cwd: MANIFESTS_FOLDER }).map((file) => {
      const name = file.slice(0, -VALUES.length);
      const text = renderChart(helm, chart, [
        '--namespace',
        'frontdoor',
        '--values',
        join(MANIFESTS_FOLDER, file),
      ]);
      return [join(MANIFESTS_FOLDER, `${name}.yaml`), HEAD.replace('NAME', name) + text] as const;
    });
    return new Map(texts);
  } finally {
    rmSync(top, { recursive: true });
  }
}

/** The release is called "frontdoor". A helm that is built from its module takes Kubernetes to be older than the chart accepts. */
export function renderChart(helm: string, chart: string, words: readonly string[]): string {
  return runHelm(helm, ['template', 'frontdoor', chart, '--kube-version', KUBERNETES_VERSION, ...words]);
}

/** Returns its standard output. Throws with its standard error. */
export function runHelm(helm: string, words: readonly string[]): string {
  return execFileSync(helm, [...words], { encoding: 'utf8', stdio: 'pipe' });
}

if (import.meta.main) {
  const helm = process.env['HELM_BIN'];
  if (helm === undefined) throw new Error('set HELM_BIN to the program helm (version 3)');
  for (const [path, text] of renderManifests(helm)) writeFileSync(path, text);
}
