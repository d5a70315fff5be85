// An image of a small tree: what an engine reads of it, and that two of them are equal.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { IMAGE_PROCESS, imageLabels } from './image.ts';
import { OWNED_FOLDERS } from './image-root.ts';
import { packImage } from './oci-layout.ts';
import { tarOf } from './tar-file.ts';

const FACTS = { version: '1.2.3', commit: 'c0ffee', timeS: 1_800_000_000 };
const folder = mkdtempSync(join(tmpdir(), 'frontdoor-oci-'));
test.after(() => rmSync(folder, { recursive: true }));

interface Descriptor {
  readonly digest: string;
  readonly size: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

function imageOf(name: string, files: readonly string[]): Buffer {
  const root = join(folder, name);
  for (const path of files) writeFileSync(join(mkdirs(root, 'usr/bin'), path), path, { mode: 0o775 });
  symlinkSync('usr/bin', join(root, 'bin'));
  for (const { path } of OWNED_FOLDERS) mkdirs(root, path);
  const packages = [{ name: 'libc6', version: '2.36' }];
  return packImage({
    name: `localhost/frontdoor:${FACTS.version}`,
    architecture: 'arm64',
    variant: 'v8',
    timeS: FACTS.timeS,
    labels: imageLabels(FACTS, packages),
    process: IMAGE_PROCESS,
    layers: [
      { tar: tarOf(root, FACTS.timeS, undefined, OWNED_FOLDERS), madeFrom: 'a small tree' },
      { tar: tarOf(join(root, 'usr'), FACTS.timeS), madeFrom: 'a smaller one' },
    ],
  });
}

function mkdirs(root: string, path: string): string {
  mkdirSync(join(root, path), { recursive: true });
  return join(root, path);
}

const sumOf = (content: Buffer): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;

test('an image names its layers by their sums, runs as a user without rights, and is equal to another one of the same files', () => {
  const image = imageOf('one', ['frontdoor', 'frontdoor-agent']);
  assert.ok(image.equals(imageOf('other', ['frontdoor-agent', 'frontdoor'])));
  const at = mkdirs(folder, 'unpacked');
  execFileSync('tar', ['-xf', '-', '-C', at], { input: image });
  const json = (path: string): never => JSON.parse(readFileSync(join(at, path), 'utf8')) as never;
  const blob = ({ digest, size }: Descriptor): Buffer => {
    const content = readFileSync(join(at, 'blobs', digest.replace(':', '/')));
    assert.deepEqual([sumOf(content), content.length], [digest, size]);
    return content;
  };
  assert.deepEqual(json('oci-layout'), { imageLayoutVersion: '1.0.0' });
  const { manifests } = json('index.json') as { manifests: Descriptor[] };
  assert.equal(manifests.length, 1);
  assert.equal(manifests[0]!.annotations!['org.opencontainers.image.ref.name'], '1.2.3');
  const { config, layers, annotations } = JSON.parse(blob(manifests[0]!).toString()) as {
    config: Descriptor;
    layers: Descriptor[];
    annotations: object;
  };
  const described = JSON.parse(blob(config).toString()) as Record<string, object>;
  const { Labels, ...process } = described['config'] as Record<string, unknown>;
  assert.deepEqual(Labels, annotations);
  assert.deepEqual(Labels, {
    'org.opencontainers.image.title': 'Frontdoor',
    'org.opencontainers.image.description': 'Publish private services without an inbound port',
    'org.opencontainers.image.version': '1.2.3',
    'org.opencontainers.image.revision': 'c0ffee',
    'org.opencontainers.image.created': '2027-01-15T08:00:00.000Z',
    'org.opencontainers.image.licenses': 'Apache-2.0',
    'dev.frontdoor.debian': 'libc6=2.36',
  });
  assert.deepEqual(
    [process['User'], process['Entrypoint'], process['WorkingDir'], process['StopSignal']],
    ['65532:65532', ['/usr/bin/frontdoor'], '/var/lib/frontdoor', 'SIGTERM'],
  );
  assert.deepEqual(
    [described['architecture'], described['variant'], described['os'], described['rootfs']],
    [
      'arm64',
      'v8',
      'linux',
      { type: 'layers', diff_ids: layers.map((layer) => sumOf(gunzipSync(blob(layer)))) },
    ],
  );
  // What `docker load` reads before version 25.
  const pathOf = ({ digest }: Descriptor): string => `blobs/${digest.replace(':', '/')}`;
  assert.deepEqual(json('manifest.json'), [
    { Config: pathOf(config), RepoTags: ['localhost/frontdoor:1.2.3'], Layers: layers.map(pathOf) },
  ]);
  checkLayer(gunzipSync(blob(layers[0]!)));
});

/** Everything is root's, readable and of one time, but for the folders of the user. */
function checkLayer(tar: Buffer): void {
  const words = ['--list', '--verbose', '--numeric-owner', '--utc', '--full-time', '--file', '-'];
  const lines = execFileSync('tar', words, { input: tar, encoding: 'utf8' }).trim().split('\n');
  const entries = lines.map((line) => /^(\S+) +(\S+) +\d+ (\S+ \S+) (.+)$/.exec(line)!.slice(1));
  const time = '2027-01-15 08:00:00';
  assert.deepEqual(entries, [
    ['lrwxr-xr-x', '0/0', time, 'bin -> usr/bin'],
    ['drwxr-xr-x', '0/0', time, 'run/'],
    ['drwxr-xr-x', '0/0', time, 'usr/'],
    ['drwxr-xr-x', '0/0', time, 'usr/bin/'],
    ['-rwxr-xr-x', '0/0', time, 'usr/bin/frontdoor'],
    ['-rwxr-xr-x', '0/0', time, 'usr/bin/frontdoor-agent'],
    ['drwxr-xr-x', '0/0', time, 'var/'],
    ['drwxr-xr-x', '0/0', time, 'var/lib/'],
    ['drwxr-xr-x', '65532/65532', time, 'run/frontdoor/'],
    ['drwxrwxrwt', '0/0', time, 'tmp/'],
    ['drwx------', '65532/65532', time, 'var/lib/frontdoor/'],
  ]);
}
