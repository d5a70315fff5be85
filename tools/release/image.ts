/**
 * The image for containers, for one architecture. It is written without a daemon, without root and without a program that builds
 * images, which is also why two builds of a commit are equal (ADR 0102).
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeTree, type DebianPlatform } from './archive.ts';
import { withDebianPackages } from './bill-of-materials.ts';
import { unpackDebian, type UnpackedPackage } from './debian-packages.ts';
import { CERTIFICATES_FILE, finishRoots, IMAGE_USER, OWNED_FOLDERS, STATE_FOLDER } from './image-root.ts';
import { packImage, timeText, type Image } from './oci-layout.ts';
import type { Release } from './release-facts.ts';
import { tarOf } from './tar-file.ts';

/** No registry has a name that begins with this one: nobody can put another image in its place. */
const IMAGE_NAME = 'localhost/frontdoor';

export function makeImage(release: Release, platform: DebianPlatform): void {
  const { version, folder } = release;
  const { architecture } = platform.debian;
  const top = mkdtempSync(join(tmpdir(), 'frontdoor-image-'));
  try {
    const packages = unpackDebian(architecture, join(top, 'debian'));
    const image = imageOf(release, platform, packages, top);
    writeFileSync(join(folder, `frontdoor-${version}-${architecture}.oci.tar`), packImage(image));
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}

function imageOf(
  { version, commit, timeS, bill }: Release,
  platform: DebianPlatform,
  packages: readonly UnpackedPackage[],
  top: string,
): Image {
  const { architecture, variant } = platform.debian;
  const [base, product] = [join(top, 'base'), join(top, 'product')] as const;
  const whole = withDebianPackages(bill, packages, architecture);
  makeTree(join(product, 'usr'), { bill: whole }, platform, 'all');
  finishRoots(base, product, platform, packages);
  return {
    name: `${IMAGE_NAME}:${version}`,
    architecture,
    variant,
    timeS,
    labels: imageLabels({ version, commit, timeS }, packages),
    process: IMAGE_PROCESS,
    layers: [
      { tar: tarOf(base, timeS, undefined, OWNED_FOLDERS), madeFrom: 'packages of Debian, and Node.js' },
      { tar: tarOf(product, timeS), madeFrom: `Frontdoor ${version}` },
    ],
  };
}

export const IMAGE_PROCESS = {
  User: `${IMAGE_USER}:${IMAGE_USER}`,
  Env: ['PATH=/usr/bin', `HOME=${STATE_FOLDER}`, `SSL_CERT_FILE=${CERTIFICATES_FILE}`],
  Entrypoint: ['/usr/bin/frontdoor'],
  Cmd: ['--help'],
  WorkingDir: STATE_FOLDER,
  Volumes: { [STATE_FOLDER]: {} },
  StopSignal: 'SIGTERM',
};

export function imageLabels(
  { version, commit, timeS }: Pick<Release, 'version' | 'commit' | 'timeS'>,
  packages: readonly Pick<UnpackedPackage, 'name' | 'version'>[],
): Record<string, string> {
  const about = 'org.opencontainers.image';
  return {
    [`${about}.title`]: 'Frontdoor',
    [`${about}.description`]: 'Publish private services without an inbound port',
    [`${about}.version`]: version,
    [`${about}.revision`]: commit,
    [`${about}.created`]: timeText(timeS),
    [`${about}.licenses`]: 'Apache-2.0',
    'dev.frontdoor.debian': packages.map((each) => `${each.name}=${each.version}`).join(' '),
  };
}
