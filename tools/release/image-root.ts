/**
 * The files of an image: in one layer what changes with Debian and Node, in another the product. There is no shell, no package
 * manager and no file that runs as another user.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { PROGRAMS_FOLDER, writeTextFile } from '../build-programs.ts';
import type { DebianPlatform } from './archive.ts';
import type { UnpackedPackage } from './debian-packages.ts';
import type { OwnedFolder } from './tar-file.ts';

/** The user of distroless images, too; it has no rights on other machines by chance. */
export const IMAGE_USER = 65_532;
export const STATE_FOLDER = '/var/lib/frontdoor';
/** Where containers give files to each other: a volume that is mounted there can be written by the user. */
export const EXCHANGE_FOLDER = '/run/frontdoor';
export const CERTIFICATES_FILE = '/etc/ssl/certs/ca-certificates.crt';
export const OWNED_FOLDERS: readonly OwnedFolder[] = [
  { path: 'run/frontdoor', mode: '0755', owner: IMAGE_USER },
  { path: 'tmp', mode: '1777', owner: 0 },
  { path: 'var/lib/frontdoor', mode: '0700', owner: IMAGE_USER },
];

const LIBRARY = 'usr/lib/frontdoor';
/** As in Debian, where `/lib` and `/usr/lib` are one folder. */
const LINKS: Readonly<Record<string, string>> = { bin: 'usr/bin', lib: 'usr/lib', lib64: 'usr/lib64' };
const TEXTS: Readonly<Record<string, string>> = {
  'etc/passwd':
    `root:x:0:0:root:/root:/nonexistent\n` +
    `frontdoor:x:${IMAGE_USER}:${IMAGE_USER}:Frontdoor:${STATE_FOLDER}:/nonexistent\n`,
  'etc/group': `root:x:0:\nfrontdoor:x:${IMAGE_USER}:\n`,
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

/** The tree of an archive becomes `/usr`. Its Node is moved to the other layer, where Debian's files are. */
export function finishRoots(
  base: string,
  product: string,
  { node, loader, debian: { triplet } }: DebianPlatform,
  packages: readonly UnpackedPackage[],
): void {
  const program = join(LIBRARY, 'node_modules', node);
  mkdirSync(dirname(join(base, program)), { recursive: true });
  renameSync(join(product, program), join(base, program));
  for (const [name, to] of Object.entries(LINKS)) {
    mkdirSync(join(base, to), { recursive: true });
    symlinkSync(to, join(base, name));
  }
  copyLibraries(base, join(base, program, 'bin/node'), packages, triplet);
  linkLoader(base, loader!, triplet);
  copyCertificates(base, packages);
  copyFacts(base, packages);
  for (const [path, text] of Object.entries(TEXTS)) writeTextFile(join(base, path), text);
  for (const { path } of OWNED_FOLDERS) mkdirSync(join(base, path), { recursive: true });
  writeCommands(product, `/${program}/bin/node`);
  for (const path of globSync('usr/share/{bash-completion,zsh,fish}', { cwd: product }))
    rmSync(join(product, path), { recursive: true });
}

/** The kernel starts Node by the first line; there is no shell that could. */
function writeCommands(product: string, node: string): void {
  const sample = `/${LIBRARY}/${PROGRAMS_FOLDER}/src/agent/sample-service.js`;
  const commands = {
    frontdoor: `import('/${LIBRARY}/bin/frontdoor.js');`,
    'frontdoor-agent': `import('/${LIBRARY}/bin/frontdoor-agent.js');`,
    // The service of the demo, which compose.yaml publishes.
    'frontdoor-sample': `import('${sample}').then((it) => it.runSampleService(process.argv.slice(2)));`,
  };
  for (const [name, text] of Object.entries(commands)) {
    const path = join(product, 'usr/bin', name);
    writeTextFile(path, `#!${node}\n${text}\n`);
    chmodSync(path, 0o755);
  }
}

/** What Node is linked to, directly and through others. */
function copyLibraries(
  base: string,
  node: string,
  packages: readonly UnpackedPackage[],
  triplet: string,
): void {
  const to = join(base, 'usr/lib', triplet);
  mkdirSync(to, { recursive: true });
  const waiting = neededBy(node);
  for (const name of waiting) {
    const path = join(to, name);
    if (existsSync(path)) continue;
    const from = packages
      .flatMap(({ folder }) => [join(folder, 'lib', triplet, name), join(folder, 'usr/lib', triplet, name)])
      .find((each) => existsSync(each));
    if (from === undefined) throw new Error(`Node needs ${name}, which none of the Debian packages has`);
    // A name that is a link becomes the file itself.
    copyFileSync(from, path);
    waiting.push(...neededBy(path));
  }
}

function neededBy(file: string): string[] {
  const text = execFileSync('readelf', ['--dynamic', '--wide', file], { encoding: 'utf8' });
  return [...text.matchAll(/\(NEEDED\).*\[(.+)\]/g)].map(([, name]) => name!);
}

/** Programs name their loader by this path. */
function linkLoader(base: string, loader: string, triplet: string): void {
  const path = join(base, 'usr', loader);
  symlinkSync(join(relative(dirname(path), join(base, 'usr/lib', triplet)), basename(loader)), path);
}

/** The file that Debian's `update-ca-certificates` makes. */
function copyCertificates(base: string, packages: readonly UnpackedPackage[]): void {
  const { folder } = packages.find(({ name }) => name === 'ca-certificates')!;
  const paths = globSync('usr/share/ca-certificates/**/*.crt', { cwd: folder }).toSorted();
  const pem = paths.map((path) => `${readFileSync(join(folder, path), 'utf8').trim()}\n`).join('');
  writeTextFile(join(base, CERTIFICATES_FILE), pem);
}

/** Licences, and the names and versions by which scanners find what has to be updated. */
function copyFacts(base: string, packages: readonly UnpackedPackage[]): void {
  for (const { name, control, folder } of packages) {
    writeTextFile(join(base, 'var/lib/dpkg/status.d', name), control);
    for (const path of [`usr/share/doc/${name}/copyright`, 'usr/share/common-licenses', 'usr/lib/os-release'])
      if (existsSync(join(folder, path)))
        cpSync(join(folder, path), join(base, path), { recursive: true, verbatimSymlinks: true });
  }
  symlinkSync('../usr/lib/os-release', join(base, 'etc/os-release'));
}
