// Manifests that helm rendered, compose files and guides name the version. helm is not needed to notice that one is stale.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import {
  DEPLOYED_FILES,
  versionedFiles,
  versionsIn,
  withNewVersion,
} from '../../tools/release/version-places.ts';

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };

test('rendered manifests and compose files name the version of the package, and guides do', () => {
  const remedy = '"npm run release" sets it; or set it, and render the manifests again';
  for (const path of globSync(DEPLOYED_FILES, { cwd: repositoryRoot })) {
    if (path.endsWith('.values.yaml')) continue;
    const versions = new Set(versionsIn(read(path)));
    assert.deepEqual([...versions], [version], `${path}: ${remedy}`);
  }
  for (const name of ['debian', 'containers', 'kubernetes', 'installing'])
    assert.ok(
      versionsIn(read(`docs/guide/${name}.md`)).includes(version),
      `docs/guide/${name}.md: ${remedy}`,
    );
});

test('a new version is set where the former one is named as that of the product', () => {
  for (const path of versionedFiles(repositoryRoot))
    assert.ok(!versionsIn(withNewVersion(read(path), version, '7.8.9')).includes(version), path);
  assert.equal(
    withNewVersion(
      'frontdoor_0.1.0_amd64.deb frontdoor-agent-0.1.0-linux-x64 frontdoor:0.2.0 node 0.1.0',
      '0.1.0',
      '0.3.0-rc.1',
    ),
    'frontdoor_0.3.0-rc.1_amd64.deb frontdoor-agent-0.3.0-rc.1-linux-x64 frontdoor:0.2.0 node 0.1.0',
  );
  assert.deepEqual(versionsIn('frontdoor-0.3.0-rc.1-amd64.oci.tar'), ['0.3.0-rc.1']);
});
