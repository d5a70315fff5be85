/**
 * A container of an image without a container engine: processes in namespaces with the unpacked root, read-only, as the user of the image,
 * without capabilities or new rights. The network is that of the machine.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

const SETUP = `
set -e
root=$1 state=$2 user=$3
shift 3
mount --make-rprivate /
mount --bind $root $root
mount -t tmpfs -o size=16m,mode=1777 tmpfs $root/tmp
mount --bind $state $root/var/lib/frontdoor
mount -t proc proc $root/proc
mount --rbind /dev $root/dev
mount -o remount,bind,ro $root
cd $root
exec setpriv --no-new-privs --bounding-set=-all,+sys_chroot,+setuid,+setgid \
  env --ignore-environment "$@"
`;

interface Config {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
}

interface Descriptor {
  readonly digest: string;
}

export class ImageContainer {
  readonly #top = mkdtempSync(join(tmpdir(), 'frontdoor-container-'));
  readonly #config: Config;
  /** Where the image is unpacked. */
  readonly root = join(this.#top, 'root');
  /** The volume at `/var/lib/frontdoor`. */
  readonly state = join(this.#top, 'state');

  constructor(archive: string) {
    const layout = join(this.#top, 'layout');
    for (const folder of [layout, this.root, this.state]) mkdirSync(folder);
    execFileSync('tar', ['-xf', archive, '-C', layout]);
    const pathOf = ({ digest }: Descriptor): string => join(layout, 'blobs', digest.replace(':', '/'));
    const read = (path: string): never => JSON.parse(readFileSync(path, 'utf8')) as never;
    const { manifests } = read(join(layout, 'index.json')) as { manifests: Descriptor[] };
    const { config, layers } = read(pathOf(manifests[0]!)) as { config: Descriptor; layers: Descriptor[] };
    for (const layer of layers)
      execFileSync('tar', ['-xzpf', pathOf(layer), '--numeric-owner', '-C', this.root]);
    this.#config = (read(pathOf(config)) as { config: Config }).config;
    const [user, group] = this.#config.User.split(':').map(Number);
    chownSync(this.state, user!, group!);
    // Engines mount these.
    for (const folder of ['proc', 'dev']) mkdirSync(join(this.root, folder));
    for (const path of ['etc/hosts', 'etc/resolv.conf']) copyFileSync(join('/', path), join(this.root, path));
  }

  /** Paths of files, without the folders that engines mount. */
  files(): string[] {
    return globSync('**/*', { cwd: this.root, exclude: ['proc', 'dev'] }).filter(
      (path) => statSync(join(this.root, path), { throwIfNoEntry: false })?.isFile() === true,
    );
  }

  /** Starts the program of the image as process 1. */
  start(...words: readonly string[]): ContainerProcess {
    const { User, Env, Entrypoint } = this.#config;
    const inside = ['chroot', `--userspec=${User}`, '--groups=', this.root, ...Entrypoint, ...words];
    const script = ['sh', '-c', SETUP, 'sh', this.root, this.state, User, ...Env];
    const namespaces = ['--mount', '--pid', '--fork', '--kill-child'];
    // The program of Debian that changes the root is found by its path: the environment is that of the image.
    const child = spawn(
      'unshare',
      [...namespaces, ...script, `/usr/sbin/${inside[0]!}`, ...inside.slice(1)],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      },
    );
    return new ContainerProcess(child);
  }

  remove(): void {
    rmSync(this.#top, { recursive: true, force: true });
  }
}

const MAX_TEXT = 8_000;

export class ContainerProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  output = '';

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, 'close');
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.output = (this.output + text).slice(-MAX_TEXT);
      });
    process.once('exit', () => child.kill('SIGKILL'));
  }

  /** Resolves to its exit status. */
  async end(): Promise<number | null> {
    await this.#ended;
    return this.#child.exitCode;
  }

  /** The group has unshare, which ignores the signal, and process 1. */
  stop(): Promise<number | null> {
    process.kill(-this.#child.pid!, 'SIGTERM');
    return this.end();
  }
}
