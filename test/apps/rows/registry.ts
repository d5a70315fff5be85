import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PublicApp } from '../row.ts';

const LAYER_BYTES = 40_000_000;

/** Writes an image of one layer in the layout of the Open Container Initiative, and returns its address for skopeo. */
function writeImage(folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'blobs', 'sha256'), { recursive: true });
  const add = (mediaType: string, content: Buffer) => {
    const digest = createHash('sha256').update(content).digest('hex');
    writeFileSync(join(folder, 'blobs', 'sha256', digest), content);
    return { mediaType, digest: `sha256:${digest}`, size: content.length };
  };
  const addJson = (mediaType: string, content: object) =>
    add(mediaType, Buffer.from(JSON.stringify(content)));
  const layer = add('application/vnd.oci.image.layer.v1.tar', randomBytes(LAYER_BYTES));
  const mediaTypes = {
    config: 'application/vnd.oci.image.config.v1+json',
    manifest: 'application/vnd.oci.image.manifest.v1+json',
  };
  const config = addJson(mediaTypes.config, {
    architecture: 'amd64',
    os: 'linux',
    rootfs: { type: 'layers', diff_ids: [layer.digest] },
  });
  const manifest = { schemaVersion: 2, mediaType: mediaTypes.manifest, config, layers: [layer] };
  const manifests = [
    {
      ...addJson(mediaTypes.manifest, manifest),
      annotations: { 'org.opencontainers.image.ref.name': 'latest' },
    },
  ];
  writeFileSync(join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests }));
  writeFileSync(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  return `oci:${folder}:latest`;
}

export const app: PublicApp = {
  name: 'registry',
  shows: 'skopeo pushes an image of 40 MB to a registry and pulls it again',
  needs: { skopeo: 'skopeo', 'docker-registry': 'docker-registry' },
  program: ({ folder, port }) => {
    const settings = join(folder, 'registry.yml');
    const lines = [
      'version: 0.1',
      `storage: { filesystem: { rootdirectory: ${folder}/registry } }`,
      `http: { addr: '127.0.0.1:${port}' }`,
    ];
    writeFileSync(settings, `${lines.join('\n')}\n`);
    return { command: 'docker-registry', args: ['serve', settings] };
  },
  check: async (share, { folder }) => {
    const pushed = writeImage(join(folder, 'image'));
    const pulled = `oci:${join(folder, 'pulled')}:latest`;
    rmSync(join(folder, 'pulled'), { recursive: true, force: true });
    const remote = `docker://${share.host}/demo/app:latest`;
    const skopeo = (args: readonly string[]) => share.run('skopeo', ['--insecure-policy', ...args]);
    await skopeo(['copy', '--quiet', pushed, remote]);
    await skopeo(['copy', '--quiet', remote, pulled]);
    const digestOf = (image: string) => skopeo(['inspect', '--format', '{{.Digest}}', image]);
    assert.equal(await digestOf(pulled), await digestOf(remote));
  },
};
