/** The Helm chart: the folder `deploy/chart` with its versions, as `helm package` would pack it. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '../pinned-process.ts';
import type { Release } from './release-facts.ts';
import { gzipOf, tarOf } from './tar-file.ts';

const CHART_FOLDER = 'deploy/chart';
const CHART_NAME = 'frontdoor';
const VERSION_LINE = /^(version|appVersion): .*$/gm;

export function packChart({ folder, version, timeS }: Release): void {
  const top = mkdtempSync(join(tmpdir(), 'frontdoor-chart-'));
  try {
    copyChart(top, version);
    writeFileSync(join(folder, `frontdoor-${version}.chart.tgz`), gzipOf(tarOf(top, timeS)));
  } finally {
    rmSync(top, { recursive: true });
  }
}

/** Returns the folder of the chart below the given one. */
export function copyChart(top: string, version: string): string {
  const chart = join(top, CHART_NAME);
  cpSync(join(repositoryRoot, CHART_FOLDER), chart, { recursive: true });
  const file = join(chart, 'Chart.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(VERSION_LINE, `$1: ${version}`));
  return chart;
}
