/** The image for containers: what is in it, and the demo in a container with a read-only root. */
import assert from 'node:assert/strict';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../../../tools/pinned-process.ts';
import { until } from '../../support/deadline.ts';
import { freePort } from '../../support/free-port.ts';
import { httpGet } from '../../support/world.ts';
import { ImageContainer } from '../image-container.ts';
import type { Install, Transcript } from '../scenario.ts';

const MAX_PACKED_BYTES = 75_000_000;
const SHELL = /\/(?:sh|bash|dash|busybox|zsh|perl|python[\d.]*)$/;
/** Set-user-ID and set-group-ID. */
const OTHER_USER = 0o6000;

export const install: Install = {
  name: 'image',
  shows: 'the demo answers in a container with a read-only root, and ends by SIGTERM as process 1',
  needs: { unshare: 'util-linux', setpriv: 'util-linux', tar: 'tar' },
  run: runImage,
};

async function runImage(transcript: Transcript): Promise<void> {
  const [file] = globSync(join(repositoryRoot, 'dist/release/frontdoor-*-amd64.oci.tar'));
  if (file === undefined) throw new Error('dist/release/ has no image: run "npm run dist -- image"');
  const bytes = statSync(file).size;
  assert.ok(bytes <= MAX_PACKED_BYTES);
  const container = await transcript.step(
    'unpack the image',
    () => new ImageContainer(file),
    () => bytes,
  );
  try {
    checkFiles(container, transcript);
    const address = `127.0.0.1:${await freePort()}`;
    for (const start of ['first start', 'second start']) await useDemo(container, transcript, start, address);
  } finally {
    container.remove();
  }
}

function checkFiles(container: ImageContainer, transcript: Transcript): void {
  const files = container.files();
  const sizes = files.map((path) => statSync(join(container.root, path)).size);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  transcript.note(
    `${files.length} files, ${(total / 1_000_000).toFixed(1)} MB unpacked, no shell, no set-user-ID`,
  );
  assert.deepEqual(
    files.filter((path) => SHELL.test(`/${path}`)),
    [],
  );
  const rights = files.filter((path) => (statSync(join(container.root, path)).mode & OTHER_USER) !== 0);
  assert.deepEqual(rights, []);
}

async function useDemo(
  container: ImageContainer,
  transcript: Transcript,
  start: string,
  address: string,
): Promise<void> {
  const ready = `/var/lib/frontdoor/${start.replace(' ', '-')}.json`;
  const options = ['--any-port', '--data-dir', '/var/lib/frontdoor/data', '--ready-file', ready];
  const demo = container.start('up', '--demo', ...options, '--metrics-listen', address);
  try {
    const { gatewayUrl, shareHost } = await transcript.step(`${start}, until it is ready`, async () => {
      const path = join(container.state, ready.slice('/var/lib/frontdoor/'.length));
      const { value } = await until(
        'the demo',
        () => readFileSync(path, 'utf8'),
        (text) => text.endsWith('}\n'),
      );
      return JSON.parse(value) as { readonly gatewayUrl: string; readonly shareHost: string };
    });
    const answer = await transcript.step('a request to its share', () =>
      httpGet(Number(new URL(gatewayUrl).port), shareHost, '/'),
    );
    assert.equal(answer.status, 200);
    const health = container.start('health', address);
    assert.equal(await transcript.step('frontdoor health', () => health.end()), 0, health.output);
    transcript.note(health.output);
    assert.equal(await transcript.step('SIGTERM, until exit status 0', () => demo.stop()), 0, demo.output);
  } catch (error) {
    transcript.note(demo.output);
    throw error;
  }
}
