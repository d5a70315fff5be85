/** The version of Frontdoor and that of Node, as labels of a metric that is always 1. */
import process from 'node:process';
import type { Exposition } from './exposition.ts';

export function writeBuildInformation(to: Exposition, version: string): void {
  const labels = { version, node: process.version };
  to.family('frontdoor_build_info', 'gauge', 'Versions of this program: always 1', [[labels, 1]]);
}
