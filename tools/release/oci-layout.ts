/**
 * An image as the OCI's image specification has it: layers, a configuration, a manifest and an index, named by their sums, in one
 * tar. `manifest.json` describes the same layers for `docker load`, which reads no index before version 25.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sumOf } from './sha256.ts';
import { gzipOf, tarOf } from './tar-file.ts';

export interface ImageLayer {
  /** An uncompressed tar. */
  readonly tar: Buffer;
  /** What `docker history` shows. */
  readonly madeFrom: string;
}

export interface Image {
  /** Name and tag: `localhost/frontdoor:0.1.0`. */
  readonly name: string;
  readonly architecture: string;
  readonly variant?: string | undefined;
  readonly timeS: number;
  readonly labels: Readonly<Record<string, string>>;
  /** `config` of the image's configuration, without labels. */
  readonly process: Readonly<Record<string, unknown>>;
  readonly layers: readonly ImageLayer[];
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const MEDIA = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
};

/** Returns the tar of the image. */
export function packImage(image: Image, level?: number): Buffer {
  const top = mkdtempSync(join(tmpdir(), 'frontdoor-image-'));
  try {
    writeLayout(top, image, level);
    return tarOf(top, image.timeS);
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}

function writeLayout(top: string, image: Image, level: number | undefined): void {
  const { name, architecture, variant, labels, layers } = image;
  mkdirSync(join(top, 'blobs/sha256'), { recursive: true });
  const write = (mediaType: string, content: Buffer): Descriptor => {
    const sum = sumOf(content);
    writeFileSync(join(top, 'blobs/sha256', sum), content);
    return { mediaType, digest: `sha256:${sum}`, size: content.length };
  };
  const packed = layers.map(({ tar }) => write(MEDIA.layer, gzipOf(tar, level)));
  const config = write(MEDIA.config, jsonOf(configOf(image)));
  const manifest = {
    schemaVersion: 2,
    mediaType: MEDIA.manifest,
    config,
    layers: packed,
    annotations: labels,
  };
  const platform = { architecture, os: 'linux', variant };
  // The second name is the one that `ctr` and `docker load` give the image.
  const named = {
    'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1),
    'io.containerd.image.name': name,
  };
  const entry = { ...write(MEDIA.manifest, jsonOf(manifest)), platform, annotations: named };
  const index = { schemaVersion: 2, mediaType: MEDIA.index, manifests: [entry] };
  const pathOf = ({ digest }: Descriptor): string => `blobs/${digest.replace(':', '/')}`;
  const docker = [{ Config: pathOf(config), RepoTags: [name], Layers: packed.map(pathOf) }];
  writeFileSync(join(top, 'oci-layout'), jsonOf({ imageLayoutVersion: '1.0.0' }));
  writeFileSync(join(top, 'index.json'), jsonOf(index));
  writeFileSync(join(top, 'manifest.json'), jsonOf(docker));
}

function configOf({ architecture, variant, timeS, labels, process, layers }: Image) {
  const created = timeText(timeS);
  return {
    created,
    architecture,
    variant,
    os: 'linux',
    config: { ...process, Labels: labels },
    rootfs: { type: 'layers', diff_ids: layers.map(({ tar }) => `sha256:${sumOf(tar)}`) },
    history: layers.map(({ madeFrom }) => ({ created, created_by: madeFrom })),
  };
}

/** As RFC 3339 has it. */
export function timeText(timeS: number): string {
  return new Date(timeS * 1_000).toISOString();
}

function jsonOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
