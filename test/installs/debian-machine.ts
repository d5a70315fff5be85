/**
 * A bare Debian 12 in namespaces, with systemd as its first process and no network but its own loopback. Changes are written to a folder that
 * ends with it: the root that debootstrap made stays as it is, and is kept outside the repository.
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { until } from '../support/deadline.ts';

const SUITE = 'bookworm';
const MIRROR = 'http://deb.debian.org/debian';
/** Packages that Frontdoor depends on and a bare Debian does not have. */
const DEPENDENCIES = ['libatomic1'];
const BOOT_MS = 120_000;
const MAX_OUTPUT_BYTES = 64 << 20;
/** The container's side of the shared folder. */
export const SHARED = '/mnt/shared';

const BOOT = `
set -e
root=$1 work=$2 shared=$3
mount --make-rprivate /
mount -t overlay overlay -o lowerdir=$root,upperdir=$work/upper,workdir=$work/work $work/root
cd $work/root
mkdir -p mnt/shared
mount --bind $shared mnt/shared
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm
for device in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0; do
  name=\${device%%:*} numbers=\${device#*:}
  mknod -m 666 dev/$name c \${numbers%:*} \${numbers#*:}
done
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
hostname machine
ip link set lo up
mkdir -p .old
pivot_root . .old
cd /
umount -l /.old
rmdir /.old
# Without it systemd cannot give credentials to services.
mount --make-rshared /
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --show-status=no
`;

export interface MachineRun {
  readonly status: number;
  /** Standard output and standard error. */
  readonly output: string;
}

export class DebianMachine {
  readonly #holder: ChildProcess;
  readonly #folder: string;
  readonly #group: string;
  /** The process that is the first one inside. */
  readonly #pid: number;
  /** Visible inside as `SHARED`. */
  readonly shared: string;

  private constructor(holder: ChildProcess, folder: string, group: string, pid: number) {
    this.#holder = holder;
    this.#folder = folder;
    this.#group = group;
    this.#pid = pid;
    this.shared = join(folder, 'shared');
  }

  /** Resolves when systemd has started everything. */
  static async boot(): Promise<DebianMachine> {
    const root = debianRoot();
    const folder = mkdtempSync(join(tmpdir(), 'frontdoor-machine-'));
    for (const name of ['upper', 'work', 'root', 'shared']) mkdirSync(join(folder, name));
    const group = join(unifiedGroups(), `frontdoor-machine-${process.pid}-${Date.now().toString(36)}`);
    mkdirSync(group);
    const namespaces = ['--mount', '--uts', '--ipc', '--net', '--cgroup', '--pid', '--fork', '--kill-child'];
    const script = 'echo $$ > "$0/cgroup.procs"; exec unshare "$@"';
    const words = [...namespaces, 'sh', '-c', BOOT, 'sh', root, folder, join(folder, 'shared')];
    const holder = spawn('sh', ['-c', script, group, ...words], { stdio: ['ignore', 'ignore', 'inherit'] });
    const end = (): void => void holder.kill('SIGKILL');
    process.once('exit', end);
    const { value: pid } = await until('the first process', () => childOf(holder.pid!), Boolean);
    const machine = new DebianMachine(holder, folder, group, pid);
    await until(
      'systemd',
      () => machine.try('systemctl', 'is-system-running').output.trim(),
      (state) => state === 'running' || state === 'degraded',
      BOOT_MS,
    );
    return machine;
  }

  try(...words: readonly string[]): MachineRun {
    const enter = ['-t', String(this.#pid), '--all', '--root'];
    const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8', HOME: '/root' };
    const { status, stdout, stderr } = spawnSync(
      'nsenter',
      [...enter, 'env', '-i', '--chdir=/', ...pairs(env), ...words],
      {
        encoding: 'utf8',
        maxBuffer: MAX_OUTPUT_BYTES,
      },
    );
    return { status: status ?? 1, output: `${stdout}${stderr}` };
  }

  /** Throws with the output of a command that fails. */
  run(...words: readonly string[]): string {
    const { status, output } = this.try(...words);
    if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}:\n${output.slice(-4_000)}`);
    return output;
  }

  shell(script: string): string {
    return this.run('sh', '-ec', script);
  }

  async close(): Promise<void> {
    const ended = once(this.#holder, 'exit');
    // With the first process, all others end.
    process.kill(this.#pid, 'SIGKILL');
    await ended;
    await until('the end of all processes', () => removeGroup(this.#group), Boolean);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function pairs(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).map(([name, value]) => `${name}=${value}`);
}

/** The folder of a Debian that debootstrap made, at the first call. */
export function debianRoot(): string {
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'frontdoor-installs');
  const root = join(cache, `debian-${SUITE}`);
  if (existsSync(root)) return root;
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(`${root}-`);
  chmodSync(made, 0o755);
  const include = '--include=ca-certificates';
  execFileSync('debootstrap', [include, SUITE, made, MIRROR], { stdio: ['ignore', 'ignore', 'inherit'] });
  // No first questions, and no console that is not there.
  writeFileSync(join(made, 'etc/machine-id'), '');
  rmSync(join(made, 'etc/systemd/system/getty.target.wants'), { recursive: true, force: true });
  const inside = (...words: readonly string[]): unknown =>
    execFileSync('chroot', [made, ...words], { stdio: ['ignore', 'ignore', 'inherit'] });
  inside('apt-get', 'clean');
  inside('apt-get', 'update', '-qq');
  // The machine has no network. They are loaded, and not installed.
  inside('apt-get', 'install', '-qq', '--download-only', ...DEPENDENCIES);
  renameSync(made, root);
  return root;
}

/** The folder of control groups of version 2, which may be beside those of version 1. */
function unifiedGroups(): string {
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[2] === 'cgroup2');
  if (mount === undefined) throw new Error('no control groups of version 2 are mounted');
  return mount.split(' ')[1]!;
}

function childOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0]);
  } catch {
    return 0;
  }
}

/** Removes a control group with those in it; false while a process is in one. */
function removeGroup(group: string): boolean {
  try {
    const folders = execFileSync('find', [group, '-depth', '-type', 'd'], { encoding: 'utf8' });
    for (const folder of folders.trim().split('\n')) rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}
